"""Texts cut to what a slide holds."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from apps.reports.document import Block, Items, Listing, Paragraph, joined
from apps.reports.files import cells

# At the size of the text a slide is so many Latin letters wide and so many lines high.
WIDTH, HEIGHT = 100, 17
# A line of text that ends in a colon, or is as short as this, leads to the next one.
LONGEST_LEAD = 40


@dataclass(frozen=True)
class SlideLine:
    """A paragraph of a slide; `level` 0 is running text, 1 an item, and -1 text in a fixed width."""

    text: str
    level: int = 0

    @property
    def height(self) -> float:
        """Return how many lines it takes, with the room after it."""
        parts = self.text.split("\n")
        return sum(max(math.ceil(cells.width(part) / WIDTH), 1) for part in parts) + 0.4


def lines_of(blocks: Iterable[Block]) -> Iterator[SlideLine]:
    """Yield the texts of some blocks; tables and figures are none."""
    for block in blocks:
        if isinstance(block, Paragraph):
            yield from _cut(SlideLine(joined(cells.parts_of(block))))
        elif isinstance(block, Items):
            for item in block.items:
                yield from _cut(SlideLine(joined(item), 1))
        elif isinstance(block, Listing):
            if block.caption:
                yield SlideLine(block.caption)
            # Short lines stand together; a long file is in the report.
            yield from _cut(SlideLine(block.text.strip("\n"), -1))


def pages_of(lines: Iterable[SlideLine], height: float = HEIGHT) -> Iterator[Sequence[SlideLine]]:
    """Yield as many lines at a time as a slide holds."""
    page: list[SlideLine] = []
    height_used = 0.0
    for line in lines:
        if page and height_used + line.height > height:
            # What leads to the next line goes with it.
            lines_here = (
                page[:-1] if len(page) > 1 and _leads(page[-1]) and page[-1].height + line.height <= height else page
            )
            yield lines_here
            page = page[len(lines_here) :]
            height_used = sum(item.height for item in page)
        page.append(line)
        height_used += line.height
    if page:
        yield page


def _leads(line: SlideLine) -> bool:
    """Return whether a line is a heading to what follows, by its look."""
    return line.level == 0 and (line.text.endswith(":") or cells.width(line.text) <= LONGEST_LEAD)


def _cut(line: SlideLine) -> Iterator[SlideLine]:
    """Yield a line in pieces that a slide holds each; a word longer than the slide is wide is cut."""
    if line.height <= HEIGHT:
        yield line
        return
    # Lines and words stay whole where they can.
    units = line.text.split("\n") if "\n" in line.text else line.text.split(" ")
    between = "\n" if "\n" in line.text else " "
    piece = ""
    for unit in units:
        for start in range(0, max(len(unit), 1), WIDTH):
            part = unit[start : start + WIDTH]
            longer = f"{piece}{between}{part}" if piece and not start else piece + part
            if SlideLine(longer, line.level).height > HEIGHT:
                yield SlideLine(piece, line.level)
                longer = part
            piece = longer
    yield SlideLine(piece, line.level)
