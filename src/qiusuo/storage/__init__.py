"""State that outlives a search: in this process by default, in Redis or Valkey for many processes."""
