"""Language models: remote, local, the built-in one that quotes, and their own search."""
