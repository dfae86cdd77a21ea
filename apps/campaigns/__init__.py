"""Campaigns, experiments, trials, runs, reservations, schedules and live progress."""
