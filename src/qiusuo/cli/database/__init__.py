"""The commands that work on the database itself: what is kept, of whom, who has a token, and the figures of use."""
