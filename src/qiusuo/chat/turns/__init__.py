"""One turn: search, ask the model, answer with citations."""
