"""Samples read from what jobs printed, their queries, charts and downloads."""
