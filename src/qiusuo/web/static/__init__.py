"""The chat page, the documentation and the root."""
