"""Conversations in a database: SQLite or PostgreSQL."""
