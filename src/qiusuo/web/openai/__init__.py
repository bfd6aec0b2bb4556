"""The door for programs that speak OpenAI's protocol."""
