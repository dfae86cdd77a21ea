"""Commands of results."""
