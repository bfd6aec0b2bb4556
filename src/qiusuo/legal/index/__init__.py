"""The index: its folder, its store, its ranking."""
