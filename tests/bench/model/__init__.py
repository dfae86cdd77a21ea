"""Tests of the core law and the models calibrated on it."""
