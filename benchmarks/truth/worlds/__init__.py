"""Simulated worlds: what is true of them, and what measuring them gives. No code of the rules is used here."""
