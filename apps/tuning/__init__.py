"""Findings of the tuning rules, stored with their evidence."""
