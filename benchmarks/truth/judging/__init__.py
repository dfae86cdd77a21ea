"""Judges: whether a statement holds in the world that it was made of."""
