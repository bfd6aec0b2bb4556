"""Checking an answer against its sources."""
