"""What is told of a turn while it runs, what is kept of it, and who is told."""
