"""Clients of remote models, made when they are first used."""
