"""Conversations that are taken along: as JSON that can be brought back, and as documents for readers."""
