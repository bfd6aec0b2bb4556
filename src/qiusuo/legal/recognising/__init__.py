"""Recognising questions of law without opening an index."""
