"""Packs: public collections of law that are brought, updated and removed as a whole."""
