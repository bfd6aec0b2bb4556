"""Programs of others, unchanged, against a server of ours: ``make clients``."""
