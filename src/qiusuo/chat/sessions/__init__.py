"""Conversations that are kept: sessions, the store, turns that go on without a reader."""
