"""What a sentence says: words, names, numbers, negations."""
