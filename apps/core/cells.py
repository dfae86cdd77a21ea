"""Texts in cells that no spreadsheet takes for a formula: an apostrophe stands before them.

The signs are those of OWASP's page on CSV injection, the full-width ones among them, which some take for = + - @. A
cell of ours may be several elsewhere: where the separator of lists is a semicolon, as in most of Europe, or somebody
chooses another, what stands behind it is a cell of its own.
"""

import re

# Equals, plus, at, minus; the same in full width; tab, return and line feed, after which one of them may stand.
_SIGNS = "=+@\uff1d\uff0b\uff0d\uff20-"
_STARTS = f"{_SIGNS}\t\r\n"
_POINTS = ", ".join(str(ord(character)) for character in _STARTS)
# Behind what else ends a cell, with blanks and quotes between or not.
_WITHIN = f"([;|\t\r\n][ \"']*)([{_SIGNS}])"
_BEHIND = re.compile(_WITHIN)
# The same where PostgreSQL writes the table; the database is in UTF-8, so that ascii() is the code point.
_QUOTED = _WITHIN.replace("'", "''")
_INNER_SQL = f"regexp_replace({{0}}, '{_QUOTED}', '\\1''\\2', 'g')"
SAFE_SQL = f"CASE WHEN ascii({{0}}) IN ({_POINTS}) THEN '''' || {_INNER_SQL} ELSE {_INNER_SQL} END"


def safe(value: object) -> object:
    """Return a cell's value such that no spreadsheet takes it, or a part of it, for a formula."""
    if not isinstance(value, str):
        return value
    whole = _BEHIND.sub(r"\1'\2", value)
    return f"'{whole}" if value.startswith(tuple(_STARTS)) else whole
