"""Commands of reports and exports."""
