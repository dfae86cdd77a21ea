"""A document as a spreadsheet: a sheet for its words, and one for each table, figure and drawing."""

from apps.reports.files.spreadsheet.workbook import render

__all__ = ["render"]
