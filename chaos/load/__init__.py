"""Real servers under load; each module measures one thing and returns a report."""
