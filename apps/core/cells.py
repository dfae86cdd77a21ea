"""Texts in cells that no spreadsheet takes for a formula: an apostrophe stands before them.

The signs are those of OWASP's page on CSV injection, the full-width ones among them, which some take for = + - @.
"""

# Equals, plus, minus, at; the same in full width; tab, return and line feed, after which one of them may stand.
_STARTS = "=+-@\uff1d\uff0b\uff0d\uff20\t\r\n"
_POINTS = ", ".join(str(ord(character)) for character in _STARTS)
# The same where PostgreSQL writes the table; the database is in UTF-8, so that ascii() is the code point.
SAFE_SQL = f"CASE WHEN ascii({{0}}) IN ({_POINTS}) THEN '''' || ({{0}}) ELSE {{0}} END"


def safe(value: object) -> object:
    """Return a cell's value such that no spreadsheet takes it for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(tuple(_STARTS)) else value
