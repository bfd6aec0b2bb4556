"""Who uses a server: people with tokens, signed in elsewhere, or brought by a proxy; what each of them may do."""
