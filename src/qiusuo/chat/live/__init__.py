"""Answers under way: they go on without a reader, are kept as they grow, and can be joined from any server."""
