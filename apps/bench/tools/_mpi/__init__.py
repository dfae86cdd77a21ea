"""Parallel programs: placing ranks, starting them by one of several launchers, and checking where they ran."""
