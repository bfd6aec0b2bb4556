"""``qiusuo chat``: conversations in the terminal."""
