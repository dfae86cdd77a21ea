"""Where pages end, what belongs together stays together: asked of typst itself, from the program's own template."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import typst

from apps.reports.document import Column, Link, Paragraph, Section, Table
from apps.reports.rendering import pdf, program
from tests.reports import documents
from tests.reports.rendering.test_pdf import IMPRINT

TEMPLATE = Path(program.__file__).with_name("report.typ").read_text(encoding="utf-8")


def pages(tmp_path: Path, sections: tuple[Section, ...], what: dict[str, str]) -> dict[str, list[int]]:
    """Return on which pages of a report of these sections stands what the selectors `what` find."""
    document = dataclasses.replace(documents.document(), summary=(), sections=sections)
    data = pdf._Setting(document, IMPRINT, {}).data()
    (tmp_path / "report.json").write_text(json.dumps(data), encoding="utf-8")
    asked = ", ".join(f"{name}: query({found}).map(it => it.location().page())" for name, found in what.items())
    path = tmp_path / "report.typ"
    path.write_text(f"{TEMPLATE}\n#context [#metadata(({asked})) <asked>]\n", encoding="utf-8")
    return dict(json.loads(typst.query(str(path), "<asked>", field="value", one=True)))


def table_of(rows: int) -> Table:
    """Return a table whose first cell is a link: cells have no places of their own, links have."""
    first: Any = Link("first", "trial:7k3m-9qxt-2v4h/0/1")
    return Table(f"t{rows}", "What was measured", (Column("Client"),), [(first,), *[("other",)] * (rows - 1)])


def test_a_caption_stands_on_the_page_where_its_table_begins(tmp_path: Path) -> None:
    # So many tables of so many lengths begin at every height of a page, and end at every other.
    blocks = [block for rows in range(1, 30) for block in (Paragraph(("So it was.",)), table_of(rows))]
    found = pages(
        tmp_path,
        (Section("s", "Results", blocks=tuple(blocks)),),
        {"captions": "figure.caption", "firsts": "link"},
    )
    assert len(found["captions"]) == 29
    assert len(set(found["captions"])) > 5
    assert found["captions"] == found["firsts"]
