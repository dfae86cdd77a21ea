"""A document becomes a PDF/A, its texts as they are and never markup, the same each time."""

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import matplotlib
import pytest

from apps.reports import author_edits
from apps.reports.document import Column, Document, Drawing, Figure, Paragraph, Section, Table
from apps.reports.files import layout, pdf, typesetter
from apps.reports.files.base import Imprint, RenderingError
from apps.reports.files.program import letters
from tests.reports import documents

IMPRINT = Imprint(
    3, "r-7k3m-9qxt-2v4h", "ab" * 32, datetime(2026, 11, 22, 1, 0, tzinfo=UTC), "https://fathom.example"
)
FONT = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
HOSTILE = '#panic("x") *a* $x$ `b` @ref <label> \\u{1} // /* \x00\x07\u202e\ue000 ไทย 한글 😀'


def of(*blocks: object) -> Document:
    return dataclasses.replace(documents.document("ko"), sections=(Section("s", HOSTILE, blocks=blocks),))


def test_it_is_a_tagged_pdf_a_with_bookmarks_in_the_documents_language(tmp_path: Path) -> None:
    shares: list[float] = []
    pdf.render(documents.document("ko"), IMPRINT, tmp_path / "a.pdf", shares.append)
    content = (tmp_path / "a.pdf").read_bytes()
    assert content.startswith(b"%PDF-1.7")
    assert b"<pdfaid:part>2</pdfaid:part>" in content
    assert b"<pdfaid:conformance>A</pdfaid:conformance>" in content
    for part in (b"/Outlines", b"/Lang(ko)", b"NanumGothic", b"/MarkInfo"):
        assert part in content
    assert b"/URI(https://fathom.example/ref/trial:7k3m-9qxt-2v4h/0/1)" in content
    assert shares == sorted(shares)
    assert shares[-1] < 1
    pdf.render(documents.document("ko"), IMPRINT, tmp_path / "b.pdf", shares.append)
    assert (tmp_path / "b.pdf").read_bytes() == content


def test_no_text_is_markup_and_no_letter_stops_it(tmp_path: Path) -> None:
    table = Table(HOSTILE, HOSTILE, (Column(HOSTILE),), rows=((HOSTILE * 20,),), note=HOSTILE)
    pdf.render(of(Paragraph((HOSTILE,)), table), IMPRINT, tmp_path / "a.pdf", lambda _share: None)
    assert (tmp_path / "a.pdf").stat().st_size > 10_000


def test_a_chart_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(RenderingError) as error:
        pdf.render(of(Figure("f", "Rates", {"kind": "pie"})), IMPRINT, tmp_path / "a.pdf", lambda _share: None)
    assert str(error.value.message.params["caption"]) == "Rates"


def test_a_drawing_that_is_none_is_an_error_with_a_reason_for_the_log(tmp_path: Path) -> None:
    broken = of(Drawing("d", "Network", "<svg"))
    with pytest.raises(RenderingError, match="failed to parse SVG"):
        pdf.render(broken, IMPRINT, tmp_path / "a.pdf", lambda _share: None)


def test_a_program_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typesetter, "TIME_LIMIT_S", 0.01)
    with pytest.raises(RenderingError, match="ended with") as error:
        pdf.render(of(), IMPRINT, tmp_path / "a.pdf", lambda _share: None)
    assert "took longer than" in str(error.value.message)


def test_what_needs_more_memory_than_there_is_fails_with_this_as_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typesetter, "MEMORY_BYTES", 400 * 1024**2)
    with pytest.raises(RenderingError) as error:
        pdf.render(of(*[Paragraph(("x",))] * 150_000), IMPRINT, tmp_path / "a.pdf", lambda _share: None)
    assert "more memory than there is" in str(error.value.message)
    # What an author may write fits in it.
    pdf.render(
        of(*[Paragraph(("x",))] * author_edits.MOST_PARAGRAPHS), IMPRINT, tmp_path / "a.pdf", lambda _share: None
    )


def test_heaps_of_accents_are_set_as_far_as_any_writing_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typesetter, "TIME_LIMIT_S", 60)
    heap = "a" + "\u0301" * 19_999
    pdf.render(of(*[Paragraph((heap,))] * 20), IMPRINT, tmp_path / "a.pdf", lambda _share: None)
    [thinned] = letters.replaced([f"{heap[:100]}{letters.BREAK}{heap[100:200]}b\u0301가"], [FONT])
    assert thinned.partition("b")[0].count("\u0301") == letters.MOST_MARKS
    assert thinned.endswith("b\u0301가")


def table_of(columns: int, rows: int, most_cells: int = 10**6, text: str = "983.0 Mbit/s") -> dict[str, object]:
    table = Table("k", "c", tuple(Column(f"c{place}") for place in range(columns)), rows=((text,) * columns,) * rows)
    return layout.table_of(table, "Table 1", IMPRINT, most_cells)


def test_the_page_is_turned_for_a_wide_table_of_many_rows() -> None:
    assert not table_of(5, 100)["wide"]
    assert table_of(12, 100)["wide"]
    assert not table_of(9, 3)["wide"]
    assert layout.SMALLEST_PT <= float(str(table_of(40, 100)["size"])) <= layout.LARGEST_PT


def test_a_text_stands_apart_from_the_number_before_it_and_a_unit_in_one_piece() -> None:
    columns = (Column("Goodput", "M bit/s", "number"), Column("State"), Column("At"))
    drawing = layout.table_of(Table("k", "c", columns, rows=((1.0, "done", "now"),)), "Table 1", IMPRINT, 100)
    assert drawing["gaps"] == [0, layout._GAP_PT, 0]
    assert drawing["heads"][0] == "Goodput (M\u00a0bit/s)"


def test_before_a_page_is_turned_long_texts_are_wrapped_earlier() -> None:
    assert table_of(3, 100, text="x" * 32)["size"] == layout.LARGEST_PT
    assert not table_of(5, 100, text="word " * 6)["wide"]
    assert table_of(7, 100, text="word " * 6)["wide"]


def test_of_more_cells_than_fit_the_first_rows_are_set_and_the_rest_is_told() -> None:
    drawing = table_of(10, 100, most_cells=200)
    assert len(drawing["rows"]) == 20
    assert drawing["notes"] == ["Here stand the first 20 of 100 rows; the spreadsheet and the CSV have all."]


def test_a_long_word_may_be_broken_and_a_short_one_may_not() -> None:
    assert layout.breakable("x" * 7 + " abc", 3) == "xxx\u200bxxx\u200bx abc"
    assert layout.breakable("one two three", 5) == "one two three"


@pytest.mark.parametrize(
    ("svg", "share"), [('<svg a="1" width="320" h="2">', 49.9), ("<svg>", 100), ('<svg width="9999">', 100)]
)
def test_a_drawing_is_as_wide_as_it_says_if_the_page_has_the_room(svg: str, share: float) -> None:
    assert layout.share_of_page(svg) == pytest.approx(share, abs=0.1)
