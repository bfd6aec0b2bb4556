"""Conversations over search: chat and agent turns, sessions, models (extra ``chat``)."""
