"""Figures from outside are bounded at both doors, tables and outputs: what is not taken is named with its place."""

import csv
import io
import json
import math
import re
from random import Random
from types import SimpleNamespace

import pytest
from openpyxl import Workbook

from apps.archive.imports import services
from apps.archive.imports.models import Import
from apps.results.models import Result, Sample, Series
from apps.testbeds.models import Node
from tests.archive.imports import sending

OUTPUT = "iperf3-tcp/winsweep_pnu/w64K_cubic_r1.json"
# What stands in a cell, and what is said of it; a figure where it is taken.
CELLS: dict[object, str | float] = {
    "105": 105e6,
    "0": 0.0,
    "nan": "is not a rate",
    "inf": "is not a rate",
    "-Infinity": "is not a rate",
    "1e308": "",
    "-1e308": "",
    "1e999": "",
    "1e70": "is larger than anything measured",
    "9" * 5000: "",
    "-5": "is less than zero",
    "-5 Mbit/s": "is less than zero",
    "1e70 Mbit/s": "is larger than anything measured",
    "105 " + "u" * 5000: "",
    "=1/0": "",
}
NUMBERS: dict[object, str | float] = {
    105: 105e6,
    1e308: "is larger than anything measured",
    -1e-9: "is less than zero",
    10**300: "is larger than anything measured",
}


def table(cells: list[object]) -> bytes:
    """Return the cells as CSV, a row each."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["window", "goodput", "run"])
    writer.writerows([f"{number + 1} KiB", cell, number + 1] for number, cell in enumerate(cells))
    return file.getvalue().encode()


def workbook(cells: list[object]) -> bytes:
    """Return the cells as a workbook, a row each."""
    book = Workbook()
    book.active.append(["window", "goodput", "run"])
    for number, cell in enumerate(cells):
        book.active.append([f"{number + 1} KiB", cell, number + 1])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


MAPPING = {
    "window": {"as": "parameter", "name": "window"},
    "goodput": {"as": "metric", "name": "goodput", "unit": "Mbit/s"},
    "run": {"as": "repetition"},
}


def read(cast: SimpleNamespace, name: str, content: bytes) -> Import:
    """Return the import of a table whose columns have their meaning."""
    imported = sending.send(cast, {name: content}, kind="table")
    assert imported.state == "mapping", imported.reason
    services.map_columns(imported=imported, tool="iperf3-tcp", mapping=MAPPING)
    return sending.advance(imported)


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_each_cell_of_a_table_is_taken_or_refused_with_its_place(
    name: str, cast: SimpleNamespace, ends: list[Node]
) -> None:
    cells = CELLS if name == "a.csv" else {**NUMBERS}
    made = (table if name == "a.csv" else workbook)(list(cells))
    imported = read(cast, name, made)
    assert imported.state == "ready", imported.reason
    items = list(imported.items.order_by("position"))
    taken = [value for value in cells.values() if isinstance(value, float)]
    assert [item.values["goodput"] for item in items if item.refusal is None] == taken
    refused = {item.place: json.dumps(item.refusal, ensure_ascii=False) for item in items if item.refusal}
    expected = {row: said for row, said in enumerate(cells.values(), start=2) if isinstance(said, str)}
    assert refused.keys() == expected.keys()
    for row, said in expected.items():
        assert "goodput" in refused[row] and said in refused[row], row
        assert len(refused[row]) < 2000
    sending.choose(imported, {"client": [ends[0].pk], "server": [ends[1].pk]}, parameters={"duration": "10 s"})
    stored = sending.store(imported)
    assert stored.state == "done"
    assert sorted(Sample.objects.values_list("value", flat=True)) == sorted(taken)


_RATE = re.compile(r'("(?:bits_per_second|bytes|seconds|end|mean_rtt)":\s*)(-?[\d.e+]+)')
EVIL = ("1e308", "-1e308", "1e999", "9" * 4000, "9" * 5000, "-5", "NaN", "Infinity", "-Infinity", '"\\u0000"', "null")


def broken(text: str, evil: str, share: float, draw: Random) -> str:
    """Return an output in which a share of the figures are something else."""
    return _RATE.sub(lambda found: found[1] + (evil if draw.random() < share else found[2]), text)


@pytest.mark.parametrize("evil", EVIL, ids=lambda text: text[:12])
def test_an_output_with_figures_that_are_none_is_refused_or_read_within_bounds(
    evil: str, cast: SimpleNamespace, ends: list[Node]
) -> None:
    draw, whole = Random(evil), sending.recording(OUTPUT).decode()
    for share in (0.02, 0.3, 1.0):
        text = broken(whole, evil, share, draw)
        imported = sending.send(cast, {f"{share}.json": text.encode()})
        assert imported.state == "ready", imported.reason
        (item,) = imported.items.all()
        if item.refusal is not None:
            assert len(json.dumps(item.refusal)) < 5000
            continue
        sending.choose(imported, {"client": [ends[0].pk], "server": [ends[1].pk]})
        stored = sending.store(imported)
        if stored.state != "done":
            item.refresh_from_db()
            assert item.problem is not None
            continue
        assert Result.objects.filter(trial__campaign=stored.campaign).exists()
    for value in Sample.objects.values_list("value", flat=True):
        assert math.isfinite(value) and 0 <= value <= 1e60
    for series in Series.objects.all():
        assert all(math.isfinite(value) and abs(value) <= 1e60 for value in (*series.times, *series.values))
