"""What an answer rests on: queries, pages and files that are read, what they have on the question, their numbers."""
