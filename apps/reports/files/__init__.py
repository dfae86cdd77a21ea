"""Documents as files: PDF, spreadsheets, slides, tables and data."""
