"""Turning the markers of an answer into links and lists."""
