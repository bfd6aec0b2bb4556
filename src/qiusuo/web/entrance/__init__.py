"""What stands before every endpoint: connections, tokens, other sites, hang-ups."""
