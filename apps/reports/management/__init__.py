"""Commands of reports."""
