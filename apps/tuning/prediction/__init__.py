"""Rates of settings that were not measured, from a model calibrated on an experiment's own results."""
