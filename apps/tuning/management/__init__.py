"""Commands of tuning."""
