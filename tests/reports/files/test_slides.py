"""A document becomes slides: one for each figure with what it shows, findings in words, nothing beyond the edge."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation

from apps.reports.document import Column, Drawing, Items, Listing, Paragraph, Section, Table, TextLink
from apps.reports.files import slides
from apps.reports.files.slides.lines import HEIGHT, WIDTH, SlideLine, lines_of, pages_of
from tests.reports import documents
from tests.reports.files.test_pdf import IMPRINT


def part(number: int) -> Section:
    words = Paragraph((f"Because of {number}.",))
    return Section(
        f"finding-{number}", f"Change {number}", blocks=(words, Listing("a = 1\nb = 2\n", "Type:", "x.conf"))
    )


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the slides of a document with findings."""
    document = documents.document()
    findings = Section("findings", "Findings", (documents.TABLE,), tuple(part(number) for number in range(1, 11)))
    appendix = Section("appendix", "Appendix", (dataclasses.replace(documents.TABLE, caption="Every trial"),))
    whole = dataclasses.replace(document, sections=(*document.sections, findings, appendix))
    folder = tmp_path_factory.mktemp("slides")
    for name in ("a.pptx", "b.pptx"):
        slides.render(whole, IMPRINT, folder / name, lambda _share: None)
    return folder / "a.pptx"


@pytest.fixture(scope="session")
def deck(made: Path) -> Any:
    """Return it as another program reads it."""
    return Presentation(str(made))


def titles(deck: Any) -> list[str]:
    return [slide.shapes.title.text_frame.text for slide in deck.slides]


def test_there_is_a_slide_for_each_figure_and_finding_and_none_for_the_appendix(deck: Any) -> None:
    assert titles(deck) == [
        "Windows between KISTI and 부산대",
        "In short",
        "Figure 1. Goodput by window",
        "Figure 2. Topology",
        "Table 2. Rates <by> client & direction",
        *(f"Change {number}" for number in range(1, 9)),
        "Findings: further ones",
    ]


def test_a_figure_has_its_sentence_and_words_for_those_who_do_not_see_it(deck: Any) -> None:
    slide = deck.slides[2]
    picture = next(shape for shape in slide.shapes if shape.shape_type == 13)
    assert picture._element.nvPicPr.cNvPr.get("descr") == "It grows with the window."
    assert any(
        shape.has_text_frame and shape.text_frame.text == "It grows with the window." for shape in slide.shapes
    )


def test_nothing_stands_beyond_the_edge_of_a_slide(deck: Any) -> None:
    for slide in deck.slides:
        for shape in slide.shapes:
            assert shape.left >= 0 and shape.top >= 0
            assert shape.left + shape.width <= deck.slide_width
            assert shape.top + shape.height <= deck.slide_height


def test_korean_has_a_font_of_its_own(deck: Any) -> None:
    run = deck.slides[0].shapes.title.text_frame.paragraphs[0].runs[0]
    assert run._r.xpath("a:rPr/a:ea/@typeface") == ["Malgun Gothic"]


def test_the_same_document_gives_the_same_bytes(made: Path) -> None:
    assert made.read_bytes() == (made.parent / "b.pptx").read_bytes()


def test_of_those_who_manage_the_tables_are_shown_too(tmp_path: Path) -> None:
    odd = Drawing("d", "With \x00 control", documents.SVG, "")
    sections = (Section("standings", "Best", (documents.TABLE, odd)),)
    document = dataclasses.replace(documents.document(), kind="management", title="A\x07B", sections=sections)
    slides.render(document, IMPRINT, tmp_path / "a.pptx", lambda _share: None)
    shown = Presentation(str(tmp_path / "a.pptx"))
    assert titles(shown)[2:] == ["Table 1. Rates <by> client & direction", "Figure 1. With  control"]
    table = next(shape.table for shape in shown.slides[2].shapes if shape.has_table)
    assert [table.cell(1, place).text for place in range(3)] == ["KGFS", "980", "2026-11-21 10:00 UTC"]
    assert any("whole table" in shape.text_frame.text for shape in shown.slides[2].shapes if shape.has_text_frame)


def test_every_line_of_what_is_to_be_typed_has_a_fixed_width(deck: Any) -> None:
    slide = next(slide for slide in deck.slides if slide.shapes.title.text_frame.text == "Change 1")
    paragraphs = [
        paragraph for shape in slide.shapes if shape.has_text_frame for paragraph in shape.text_frame.paragraphs
    ]
    typed = next(paragraph for paragraph in paragraphs if paragraph.text.startswith("a = 1"))
    assert [run.font.name for run in typed.runs] == ["Consolas", "Consolas"]


def test_a_conclusion_that_was_said_in_short_is_not_said_again(tmp_path: Path) -> None:
    said, more = Paragraph(("It is the window.",)), Paragraph(("And so on.",))
    document = dataclasses.replace(
        documents.document(), summary=(said, more), sections=(Section("conclusion", "Conclusion", (said,)),)
    )
    slides.render(document, IMPRINT, tmp_path / "a.pptx", lambda _share: None)
    assert titles(Presentation(str(tmp_path / "a.pptx")))[1:] == ["In short"]


def test_a_column_in_which_nothing_stands_is_left_out_of_a_slide(tmp_path: Path) -> None:
    columns = (Column("Finding"), Column("Gain", kind="number"), Column("State"))
    table = Table("t", "Changes", columns, rows=(("One", None, "new"), ("Two", None, "new")))
    document = dataclasses.replace(
        documents.document(), kind="management", sections=(Section("s", "Changes", (table,)),)
    )
    slides.render(document, IMPRINT, tmp_path / "a.pptx", lambda _share: None)
    shown = Presentation(str(tmp_path / "a.pptx")).slides[2].shapes
    made = next(shape.table for shape in shown if shape.has_table)
    assert [made.cell(0, place).text for place in range(len(made.columns))] == ["Finding", "State"]
    assert not any("whole table" in shape.text_frame.text for shape in shown if shape.has_text_frame)


def test_long_words_and_texts_are_cut_to_slides() -> None:
    blocks = (
        Paragraph(("x" * 5000, TextLink(" end", "campaign:a"))),
        Paragraph(("한글 낱말 " * 900,)),
        Items((("one",), ("two",))),
        Listing("\n".join(f"key{number} = {number}" for number in range(60))),
    )
    lines = list(lines_of(blocks))
    assert all(line.height <= HEIGHT for line in lines)
    assert "".join(line.text for line in lines).count("x") == 5000
    assert sum(line.text.count("낱말") for line in lines) == 900
    assert all(f"key{number} = {number}" in "\n".join(line.text for line in lines) for number in range(60))
    for page in pages_of(lines):
        assert sum(line.height for line in page) <= HEIGHT
    assert list(pages_of([])) == []
    change = [*(SlideLine("x" * WIDTH, 1) for _number in range(11)), SlideLine("To change"), SlideLine("a = 1", -1)]
    assert [len(page) for page in pages_of(change)] == [11, 2]
    reasons = [
        *(SlideLine("x" * WIDTH, 1) for _number in range(11)),
        SlideLine(f"{'x' * 50}, the likeliest first:"),
        SlideLine("b", 1),
    ]
    assert [len(page) for page in pages_of(reasons)] == [11, 2]
    assert SlideLine("a\nb").height > SlideLine("a").height
