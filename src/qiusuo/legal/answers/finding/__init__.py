"""Which laws and articles answer: by number, by name, by words, and what an index lacks."""
