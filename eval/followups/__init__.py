"""How well follow-up questions are understood, on two public collections of rewritten questions."""
