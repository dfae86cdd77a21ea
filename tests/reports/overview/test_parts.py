"""What else was proposed for a finding's question stands with it in management reports, once, in every format."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openpyxl
import pytest
from pptx import Presentation

from apps.bench.rules.base import FindingDraft
from apps.bench.text import Message
from apps.reports.document import Document
from apps.reports.files import html, pdf
from apps.reports.files.formats import FORMATS
from apps.tuning.models import Finding
from tests.reports.files.test_pdf import IMPRINT
from tests.reports.overview.test_document import finding, lines, report, tables
from tests.reports.texts import section_of


def part(title: str) -> dict[str, Any]:
    """Return what else was proposed for a finding's question, as its record has it."""
    said = Message(title)
    told = FindingDraft(
        rule="tcp-streams",
        version=3,
        title=said,
        why=(said,),
        formula="",
        evidence=(),
        confidence=0.6,
        applies_when=said,
    )
    return told.as_json()


def shown_in(document: Document, folder: Path) -> dict[str, str]:
    """Return the words of a document with its tables in each of its formats."""
    found = {"html": str(html.render(document)), "pdf": json.dumps(pdf._Setting(document, IMPRINT, {}).data())}
    for name in ("pptx", "xlsx", "json"):
        FORMATS[name].load()(document, IMPRINT, folder / f"report.{name}", lambda _share: None)
    shapes = [shape for slide in Presentation(str(folder / "report.pptx")).slides for shape in slide.shapes]
    cells = (cell.text for shape in shapes if shape.has_table for row in shape.table.rows for cell in row.cells)
    sheets = openpyxl.load_workbook(folder / "report.xlsx", read_only=True).worksheets
    values = (str(cell) for sheet in sheets for row in sheet.iter_rows(values_only=True) for cell in row)
    return found | {"pptx": " ".join(cells), "xlsx": " ".join(values), "json": (folder / "report.json").read_text()}


@pytest.mark.parametrize(
    ("language", "title"), [("en", "For the same question also"), ("ko", "같은 질문에 대한 다른 제안")]
)
def test_what_else_was_proposed_stands_beside_its_finding_once_in_every_format(
    quarter: SimpleNamespace, tmp_path: Path, language: str, title: str
) -> None:
    campaign = quarter.weekly[-1]
    for state in ("new", "accepted"):
        lead = finding(campaign, f"lead-{state}", state, 1.2)
        parts = [part(f"Do {word}-{state}") for word in ("first", "second")]
        Finding.objects.filter(pk=lead.pk).update(details=lead.details | {"parts": parts})
        finding(campaign, f"alone-{state}", state, 1.1)
    document = report(quarter, language=language)
    for key, state in (("open", "new"), ("accepted", "accepted")):
        found = {row[str(tables(document)[key].columns[1].title)]: row[title] for row in lines(tables(document)[key])}
        assert found == {f"Do lead-{state}": f"Do first-{state}; Do second-{state}", f"Do alone-{state}": None}
    for name, words in shown_in(
        replace(document, summary=(), sections=(section_of(document, "findings"),)), tmp_path
    ).items():
        for state in ("new", "accepted"):
            assert words.count(f"Do first-{state}; Do second-{state}") == 1, name
    # Where no finding has any there is no such column.
    Finding.objects.update(details={})
    assert title not in [column.title for column in tables(report(quarter, language=language))["open"].columns]
