"""Research: a question looked into from several sides, within limits, with a report in sections."""
