"""Agent mode: the model calls tools, ours and those of a client, until it can answer."""
