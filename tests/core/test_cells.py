"""No text in a file that a spreadsheet opens becomes a formula, whoever writes the file: Python or PostgreSQL."""

import ast
import csv
import io

import pytest
from django.db import connection

from apps.core import cells
from tests.test_architecture import ROOT, SOURCES, imports_of, tree_of

# What makes a cell harmless; `plain` joins what is several and is safe itself.
MAKERS = {"safe", "plain", "SAFE_SQL"}


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n"])
def test_a_text_that_a_spreadsheet_would_run_is_made_harmless(sign: str) -> None:
    assert cells.safe(f"{sign}1+1") == f"'{sign}1+1"
    assert cells.safe(f"1{sign}1") == f"1{sign}1"


@pytest.mark.parametrize("separator", [";", "\t", "|", "\n", "; ", ';"'])
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝"])
def test_what_another_separator_makes_a_cell_of_is_harmless_too(separator: str, sign: str) -> None:
    assert cells.safe(f"Sweep{separator}{sign}A1{separator}x") == f"Sweep{separator}'{sign}A1{separator}x"
    # However the file is read, no cell of it is a formula.
    out = io.StringIO()
    csv.writer(out).writerow(["9jqm", cells.safe(f"a,b{separator}{sign}A1{separator}{sign}B1"), "1"])
    for delimiter in ",;\t|":
        parts = [part for row in csv.reader(io.StringIO(out.getvalue()), delimiter=delimiter) for part in row]
        assert not [part for part in parts if part.lstrip(' "').startswith(sign)]


def test_a_number_stays_one() -> None:
    assert cells.safe(-2.0) == -2.0
    assert cells.safe(None) is None


@pytest.mark.django_db
def test_postgresql_writes_every_character_as_python_does() -> None:
    texts = [chr(point) for point in range(1, 0x10000) if not 0xD800 <= point < 0xE000] + ["", "\U0001f600"]
    texts += [f"a{first}{second}b" for first in ";|\t\r\n,=" for second in "=+-@＝＋－＠ \"'"]
    texts += ['=a; "=b;=c', ";=", ";;==", "a;-\\1"]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {cells.SAFE_SQL.format('c')} FROM unnest(%s::text[]) c", [texts])
        written = [row[0] for row in cursor.fetchall()]
    assert written == [cells.safe(text) for text in texts]


# Where each source has been read once already.
@pytest.mark.xdist_group("architecture")
def test_whoever_writes_csv_makes_its_cells_harmless() -> None:
    writers, careless = 0, []
    for path in SOURCES:
        nodes = list(ast.walk(tree_of(path))) if "csv" in imports_of(tree_of(path)) else []
        calls = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
        if {"csv.writer", "csv.DictWriter"} & calls and path.is_relative_to(ROOT / "apps"):
            names = {node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in nodes}
            writers += 1
            careless += [] if names & MAKERS else [str(path)]
    assert careless == []
    assert writers >= 6
