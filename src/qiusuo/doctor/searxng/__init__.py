"""Why a SearXNG does not work, and what of it can be repaired without asking."""
