"""How the sheets look, and how numbers are shown in them: rounded by the format, whole in the cell."""

import math
from collections.abc import Iterable
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.format import Format

ACCENT, CALM, RULE = "#0b5a7a", "#56606a", "#c9d0d7"
DATE = "yyyy-mm-dd hh:mm"
_TINY = 1e-4


class Styles:
    """The formats of one workbook, each made once."""

    def __init__(self, book: Workbook) -> None:
        """Make none yet."""
        self._book = book
        self._made: dict[tuple[tuple[str, Any], ...], Format] = {}

    def of(self, **properties: Any) -> Format:
        """Return the format of these properties."""
        key = tuple(sorted(properties.items()))
        if key not in self._made:
            self._made[key] = self._book.add_format(properties)
        return self._made[key]

    def title(self) -> Format:
        """Return that of a sheet's title."""
        return self.of(bold=True, font_size=14, font_color=ACCENT)

    def head(self, kind: str = "text") -> Format:
        """Return that of a column's head."""
        side = {"align": "right"} if kind == "number" else {"align": "left", "indent": 1}
        return self.of(bold=True, bottom=2, bottom_color=ACCENT, text_wrap=True, valign="bottom", **side)

    def words(self) -> Format:
        """Return that of running text."""
        return self.of(text_wrap=True, valign="top")

    def note(self) -> Format:
        """Return that of what is said in passing."""
        return self.of(font_color=CALM, valign="top")


def number_format(values: Iterable[float], digits: int) -> str:
    """Return the format in which a column's largest number shows its digits that count, and all have one point."""
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    if not sizes:
        return "0"
    if max(sizes) < _TINY:
        return "0.00E+00"
    if all(size.is_integer() for size in map(float, sizes)):
        return "#,##0" if max(sizes) >= 10_000 else "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(max(sizes))))
    return ("#,##0" if max(sizes) >= 10_000 else "0") + (f".{'0' * decimals}" if decimals else "")
