"""Real servers under faults (``python -m chaos``) and under load (``python -m chaos.load``)."""
