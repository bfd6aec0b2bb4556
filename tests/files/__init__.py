"""Files that people add to a conversation."""
