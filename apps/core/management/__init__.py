"""Commands of the set-up."""
