"""XML that declares entities of its own is built nowhere, in whatever encoding and behind whatever it hides."""

import ast
import io
import re
import time
import zipfile
from itertools import product

import pytest
from openpyxl import Workbook

from apps.archive.imports import tables
from apps.archive.imports.containers import ContainerError, xml
from tests.rotation import part_of
from tests.test_architecture import SOURCES, tree_of

_ENTITIES = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
_BOMB = f'<!DOCTYPE x [<!ENTITY a0 "{"x" * 1000}">{_ENTITIES}]><x>&a8;</x>'
_COMMENT = f"<!--{'-x' * 4000}-->"
BOMBS = {
    "plain": _BOMB.encode(),
    "declared": b'<?xml version="1.0"?>' + _BOMB.encode(),
    "behind a comment": (_COMMENT + _BOMB).encode(),
    "behind blanks": b"\n" * 10_000 + _BOMB.encode(),
    "UTF-16": _BOMB.encode("utf-16"),
    "UTF-16 behind a comment": (_COMMENT + _BOMB).encode("utf-16"),
    "Latin 1": b'<?xml version="1.0" encoding="iso-8859-1"?>' + _BOMB.encode(),
    "another's": b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>',
    "from without": b'<!DOCTYPE x [<!ENTITY a SYSTEM "http://192.0.2.1/">]><x>&a;</x>',
    "of parameters": b"<!DOCTYPE x [<!ENTITY % a \"<!ENTITY b 'c'>\">%a;]><x/>",
    "many cells": b"<x>" + b"<x/>" * xml.MOST_ELEMENTS + b"</x>",
    "many others": b"<x>" + b"<x/>" * xml.MOST_OTHERS + b"</x>",
}


def packed(**changed: bytes) -> io.BytesIO:
    """Return a workbook of which some parts were replaced, those by names that it has not added."""
    whole, file = io.BytesIO(), io.BytesIO()
    book = Workbook()
    book.active.append(["window", "goodput"])
    book.active.append(["64 KiB", "1 Gbit/s"])
    book.save(whole)
    with zipfile.ZipFile(whole) as given, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as taken:
        for name in {*given.namelist(), *changed}:
            taken.writestr(name, changed[name] if name in changed else given.read(name))
    return file


def parts() -> list[str]:
    with zipfile.ZipFile(packed()) as package:
        return package.namelist()


@pytest.mark.parametrize("kind", BOMBS)
def test_no_part_of_a_workbook_may_be_a_bomb(kind: str) -> None:
    names = sorted({*parts(), "xl/media/picture.png"})
    cells = {"xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"}
    if kind == "many cells":
        names = sorted(cells)
    elif kind == "many others":
        names = sorted({*names} - cells)
    for name in (name for name, other in part_of(product(names, BOMBS)) if other == kind):
        began = time.process_time()
        with pytest.raises((ContainerError, tables.TableError)) as refused:
            tables.read_heads(packed(**{name: BOMBS[kind]}), "a.xlsx")
        assert "save the workbook again" in str(refused.value.message), name
        assert time.process_time() - began < 20


TYPES = b"application/vnd.openxmlformats-officedocument.spreadsheetml."
RELATION = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


@pytest.mark.parametrize(
    ("part", "content", "other"),
    [
        ("[Content_Types].xml", TYPES + b"worksheet+xml", TYPES + b"sheet.main+xml"),
        ("[Content_Types].xml", TYPES + b"worksheet+xml", TYPES + b"styles+xml"),
        ("xl/_rels/workbook.xml.rels", RELATION + b"worksheet", RELATION + b"chartsheet"),
        ("xl/_rels/workbook.xml.rels", b'Type="' + RELATION + b"worksheet", b'type="chartsheet" Type="'),
    ],
)
def test_a_part_of_cells_is_taken_for_nothing_that_is_built_whole(part: str, content: bytes, other: bytes) -> None:
    with zipfile.ZipFile(packed()) as package:
        before = package.read(part)
    assert content in before
    with pytest.raises(ContainerError, match="unsafe"):
        tables._check_workbook(packed(**{part: before.replace(content, other)}), "a.xlsx")


def test_a_workbook_with_pictures_is_read() -> None:
    (head,) = tables.read_heads(packed(**{"xl/media/picture.png": b"\x89PNG\r\n\x1a\n\0\0"}), "a.xlsx")
    assert head.headers == ["window", "goodput"]


def test_nobody_else_reads_xml() -> None:
    readers = set()
    for path in SOURCES:
        # All that is looked for has one of these words, and to parse every source takes seconds.
        if not re.search("xml|pyexpat", path.read_text()) and "openpyxl" not in path.read_text():
            continue
        for node in ast.walk(tree_of(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                if name.startswith(("xml.", "lxml", "defusedxml", "openpyxl.load_workbook", "pyexpat")):
                    readers.add((path.name, name))
    # The drawings of archives are looked through with declarations refused, too, and nothing is built of them.
    drawings = ("foreign.py", "xml.parsers.expat")
    assert readers == {("xml.py", "xml.parsers.expat"), ("tables.py", "openpyxl.load_workbook"), drawings}


def shared(texts: int) -> io.BytesIO:
    """Return a workbook of four cells that shares so many texts, under whatever prefix."""
    sst = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    body = b"<x:si><x:t>ab</x:t></x:si>" * texts
    return packed(**{"xl/sharedStrings.xml": f'<x:sst xmlns:x="{sst}">'.encode() + body + b"</x:sst>"})


def test_a_workbook_shares_no_more_texts_than_its_cells_show() -> None:
    with pytest.raises(ContainerError, match="unsafe"):
        tables._check_workbook(shared(xml.MOST_UNSHOWN + 5), "a.xlsx")
    tables._check_workbook(shared(xml.MOST_UNSHOWN + 4), "a.xlsx")


def test_texts_that_many_cells_share_count_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    book, file = Workbook(write_only=True), io.BytesIO()
    sheet = book.create_sheet()
    sheet.append(["a", "b", "c"])
    for _row in range(20):
        sheet.append(["x" * 900] * 3)
    book.save(file)
    monkeypatch.setattr(tables, "MOST_LETTERS", 40_000)
    with pytest.raises(tables.TableError, match="larger"):
        list(tables.read_rows(file, "a.xlsx"))
