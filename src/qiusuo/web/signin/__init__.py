"""Ways in besides tokens: people whom a trusted proxy names, or who have signed in by OpenID Connect."""
