"""What a conversation is: its turns, memory, files, shared links, and what a store must be able to do."""
