"""How much is searched and answered: counted as it happens, kept as small sums beside the conversations."""
