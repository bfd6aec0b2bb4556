"""A million judgments: made out of real ones, imported, and asked."""
