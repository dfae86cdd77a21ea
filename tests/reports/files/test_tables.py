"""A document's tables come as CSV files in a ZIP that opens harmlessly in a spreadsheet."""

import csv
import io
import zipfile
from pathlib import Path

import pytest

from apps.reports.files import data, flat, tables
from apps.reports.files.base import Imprint
from tests.comparison.figures import charts
from tests.reports import documents
from tests.reports.files.test_pdf import IMPRINT

IGNORED = lambda _share: None  # noqa: E731


def read(path: Path) -> dict[str, list[list[str]]]:
    with zipfile.ZipFile(path) as archive:
        return {
            name: list(csv.reader(io.StringIO(archive.read(name).decode("utf-8-sig")))) for name in archive.namelist()
        }


def test_each_table_and_figure_is_a_file_and_the_contents_name_them(tmp_path: Path) -> None:
    tables.render(documents.document(), IMPRINT, tmp_path / "a.zip", IGNORED)
    files = read(tmp_path / "a.zip")
    assert list(files) == ["001-windows.csv", "002-rates.csv", "contents.csv"]
    assert files["002-rates.csv"] == [
        ["Client", "Sent (Mbit/s)", "At"],
        ["KGFS", "980.0", "2026-11-21T10:00:00+00:00"],
        ["KIGFS", "986.5", ""],
        ["'=1+1", "", "2026-11-21T11:00:00+00:00"],
    ]
    assert files["contents.csv"][2] == [
        "002-rates.csv",
        "Table 1",
        "Rates <by> client & direction",
        "Five flows each.",
    ]


def test_the_same_document_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        tables.render(documents.document(), IMPRINT, tmp_path / name, IGNORED)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_key_makes_a_name_without_paths() -> None:
    assert tables.file_name("../../etc/Passwd ü") == "etc-passwd"
    assert tables.file_name("표") == "data"


@pytest.mark.parametrize("name", charts.ALL)
def test_every_kind_of_chart_has_its_data_as_a_table(name: str) -> None:
    heads, rows = flat.heads_of(charts.ALL[name]), list(flat.rows_of(charts.ALL[name]))
    assert rows
    assert {len(row) for row in rows} == {len(heads)}


def test_words_stand_for_places_in_the_data_of_a_chart() -> None:
    assert next(iter(flat.rows_of(charts.HEAT))) == ["1", "64 KiB", 1.4e8]
    assert next(iter(flat.rows_of(charts.PARALLEL))) == [65536, "cubic", 1.4e8]
    assert flat.heads_of(charts.LINE)[1:3] == ["Window (B)", "Goodput (bit/s)"]


def test_the_json_is_the_canonical_text(tmp_path: Path) -> None:
    imprint = Imprint(None, "", "", IMPRINT.at)
    data.render(documents.document(), imprint, tmp_path / "a.json", IGNORED)
    assert (tmp_path / "a.json").read_text().startswith('{"format":1,"kind":"campaign"')
