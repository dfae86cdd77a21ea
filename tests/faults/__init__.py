"""Faults drawn by a seed against a whole service with real agents: `python -m tests.faults --seeds 1-50`."""
