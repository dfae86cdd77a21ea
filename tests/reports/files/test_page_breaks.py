"""Where pages end, what belongs together stays together: asked of typst itself, from the program's own template."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import typst

from apps.reports.document import Column, Items, Paragraph, Section, Table, TextLink
from apps.reports.files import layout, pdf, program
from tests.reports import documents
from tests.reports.files.test_pdf import IMPRINT

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
    first: Any = TextLink("first", "trial:7k3m-9qxt-2v4h/0/1")
    last: Any = TextLink("last", "trial:7k3m-9qxt-2v4h/0/2")
    return Table(
        f"t{rows}", "What was measured", (Column("Client"),), [(first,), *[("other",)] * (rows - 2), (last,)]
    )


def test_a_caption_stands_on_the_page_where_its_table_begins(tmp_path: Path) -> None:
    # So many tables of so many lengths begin at every height of a page, and end at every other.
    lengths = (*(2 + place % (layout.WHOLE_ROWS - 1) for place in range(80)), *range(layout.WHOLE_ROWS + 1, 31))
    blocks = [block for rows in lengths for block in (Paragraph(("So it was. " * rows,)), table_of(rows))]
    page_numbers = pages(
        tmp_path,
        (Section("s", "Results", blocks=tuple(blocks)),),
        {"captions": "figure.caption", "links": "link"},
    )
    assert len(page_numbers["captions"]) == len(lengths)
    assert len(set(page_numbers["captions"])) > 5
    assert page_numbers["captions"] == page_numbers["links"][::2]
    # A short table stands on one page.
    ends = list(zip(page_numbers["links"][::2], page_numbers["links"][1::2], strict=True))
    assert all(first == last for first, last in ends[:80])
    assert any(first != last for first, last in ends[80:])


def test_a_line_over_a_list_stands_on_the_page_where_the_list_begins(tmp_path: Path) -> None:
    link: Any = TextLink("first", "trial:7k3m-9qxt-2v4h/0/1")
    blocks: list[Any] = []
    for number in range(1, 30):
        blocks += [
            Paragraph(("So it was. " * number,)),
            Paragraph((link, " of these:")),
            Items(((link,), ("other",))),
        ]
    found = pages(tmp_path, (Section("s", "Results", blocks=tuple(blocks)),), {"links": "link"})["links"]
    assert len(set(found)) > 3
    assert found[::2] == found[1::2]


def test_what_leads_to_a_table_stands_on_the_page_that_is_turned_for_it(tmp_path: Path) -> None:
    columns = tuple(Column(f"Column number {number}") for number in range(24))
    link: Any = TextLink("first", "trial:7k3m-9qxt-2v4h/0/1")
    rows = ((link, *["long enough"] * 23), *[("so it was measured",) * 24] * 20)
    table, said = Table("t", "All", columns, rows), Paragraph((link,))
    parts = (Section("p1", "Part 1", blocks=(table,)), Section("p2", "Part 2", blocks=(said, table, said)))
    after = Section("after", "Conclusion", blocks=(Paragraph((link,)),))
    page_numbers = pages(
        tmp_path,
        (Section("s", "Every trial", sections=parts), after),
        {"headings": "heading.where(outlined: true)", "links": "link"},
    )
    # The title and the contents have two pages.
    assert page_numbers["headings"] == [3, 3, 4, 5]
    assert page_numbers["links"] == [3, 4, 4, 5, 5]
