"""Tests of the tuning rules."""
