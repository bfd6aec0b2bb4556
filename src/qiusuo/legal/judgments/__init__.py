"""Judgments: what their text tells, the search for them, and the masking of personal data."""
