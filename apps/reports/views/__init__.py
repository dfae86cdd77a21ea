"""Pages of reports and editions."""
