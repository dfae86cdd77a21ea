"""Tables as reports print them, with sentences told of them: what the tests of claims mutate."""

import random
from collections.abc import Sequence

from apps.reports.campaign import sentences
from apps.reports.campaign.sentences import FigureLine, FigureTopic
from apps.reports.document import Column, Document, Figure, Section, Table, Topic

MBIT = 1e6
STREAMS, WINDOW, N, GOODPUT = range(4)
# The share of places that were measured more or less often than the others.
UNEVEN = 0.15


def table(curves: Sequence[Sequence[Sequence[float]]], key: str = "table-1") -> Table:
    """Return a table of several lines (by window) over 1, 2, 4, 8 … streams; figures are in Mbit/s."""
    rows, numbers, behind = [], [], []
    for line, places in enumerate(curves):
        for place, figures in enumerate(places):
            rows.append((str(2**place), f"{64 * 2**line} KiB", len(figures), sum(figures) / len(figures)))
            numbers.append([float(2**place)])
            behind.append(list(figures))
    columns = Column("Streams"), Column("Window"), Column("n", kind="number"), Column("Goodput", "Mbit/s", "number")
    return Table(key, "Windows", columns, tuple(rows), figures={str(STREAMS): numbers, str(GOODPUT): behind})


def shown(found: Table, *, better: str = "higher", ceiling: float | None = None) -> FigureTopic:
    """Return what a figure shows of such a table: a line for each window."""
    topic = Topic(found.key, of=GOODPUT, by=(STREAMS,), unit="bit/s", metric="Goodput", axis="Streams", better=better)
    windows = dict.fromkeys(str(row[WINDOW]) for row in found.rows)
    lines = [FigureLine(f"Window {text}" if len(windows) > 1 else "", ((WINDOW, text),)) for text in windows]
    return FigureTopic(topic, lines, WINDOW, "Window", ceiling)


def document(found: Table, *, better: str = "higher", ceiling: float | None = None, language: str = "en") -> Document:
    """Return a document with a figure that is told of a table, and the table."""
    said = sentences.of(shown(found, better=better, ceiling=ceiling), found)
    lines = [{"axis": "y", "value": ceiling, "label": "Ceiling"}] if ceiling else []
    chart: dict[str, object] = {"kind": "line", "lines": lines}
    figure = Figure("figure-1", "Goodput by Streams", chart, sentences.text_of(said), says=said)
    part = Section("results", "Results", (figure, found))
    return Document("campaign", "Windows", "", language, (part,))


def drawn(chance: random.Random) -> list[list[list[float]]]:
    """Return one to three lines of two to seven places with one to six figures each, of several forms."""
    places, count = chance.randint(2, 7), chance.choice((1, 2, 3, 3, 5, 6))
    counts = [chance.randint(1, 6) if chance.random() < UNEVEN else count for _place in range(places)]
    noise = chance.choice((0.0005, 0.01, 0.05))
    lines = []
    for _line in range(chance.randint(1, 3)):
        form = chance.choice(("flat", "rise", "fall", "plateau", "hump", "free"))
        top = chance.uniform(100, 900)
        heights = {
            "flat": [top] * places,
            "rise": [top * (place + 1) for place in range(places)],
            "fall": [top / (place + 1) for place in range(places)],
            "plateau": [min(top * 2**place, 2.2 * top) for place in range(places)],
            "hump": [top * (1 + min(place, places - 1 - place)) for place in range(places)],
            "free": [chance.uniform(0.2, 1) * top for _place in range(places)],
        }[form]
        lines.append(
            [
                [height * (1 + chance.gauss(0, noise)) for _n in range(own)]
                for height, own in zip(heights, counts, strict=True)
            ]
        )
    return lines
