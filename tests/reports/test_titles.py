"""No title of a finding says a figure that its report's table of what findings rest on does not bear out."""

import re
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.reports import campaign as reports
from apps.reports import overview, serialisation, services
from apps.reports.campaign import grounds
from apps.reports.campaign.grounds import Grounds
from apps.reports.claims import checks, titles
from apps.reports.document import Document, Items, Paragraph, Section, Sentence, Table, TextLink, walk
from apps.reports.truthful import SentencesRefusedError
from tests.reports import whole
from tests.reports.overview.conftest import NOW, WHOLE, make_quarter
from tests.reports.test_clauses import with_table
from tests.reports.test_figures_in_words import FIGURE, parts_of

LANGUAGES = ("en", "ko")


@pytest.fixture
def documents(cast: SimpleNamespace) -> list[Document]:
    """Return reports of both kinds in both languages."""
    make_quarter(cast)
    campaign = whole.campaign(cast)
    lead = campaign.findings.get(rule="tcp-window-knee")
    judged = {"judged_at": NOW.replace(day=1), "verdict": "verified", "unit": "bit/s", "pairs": 6, "proof": {}}
    lead.verifications.create(present=4.5e8, realised=8.1e8, gain=1.8, gain_low=1.7, gain_high=1.9, **judged)
    own = [reports.build([campaign], user=cast.bob, language=language) for language in LANGUAGES]
    managed = [overview.build(team=cast.team, selection=WHOLE, language=language, now=NOW) for language in LANGUAGES]
    return own + managed


def links_of(document: Document) -> Iterator[TextLink]:
    """Yield the titles of findings that stand in texts and tables, not who else has the same, nor the rule's name."""
    for block in walk(document):
        if isinstance(block, Paragraph) and block.style == "remark":
            continue
        rows = (
            block.rows
            if isinstance(block, Table)
            else parts_of(block)
            if isinstance(block, Paragraph | Items)
            else ()
        )
        yield from (
            part for row in rows for part in row if isinstance(part, TextLink) and part.ref.startswith("finding:")
        )


def headings_of(sections: tuple[Section, ...]) -> Iterator[Section]:
    for section in sections:
        if re.match("(problem|finding)-", section.key):
            yield section
        yield from headings_of(section.sections)


def test_each_figure_of_a_title_is_claimed_wherever_it_stands_and_no_other_holds(documents: list[Document]) -> None:
    for document in documents:
        assert checks.check(document) == []
        said = [(link.text, link.claim) for link in links_of(document)]
        said += [(section.title, section.claim) for section in headings_of(document.sections)]
        with_figures = [(text, claim) for text, claim in said if FIGURE.search(text)]
        assert with_figures
        for text, claim in with_figures:
            assert claim, text
            held = set(FIGURE.findall(" ".join(map(str, claim.says.values()))))
            assert set(FIGURE.findall(text)) <= held, text
        # With another figure none of them holds.
        tables = checks.tables_of(document)
        told = [item for _place, item in checks.sentences_of(document) if item.claim.relation == titles.TITLE]
        assert told
        for item in told:
            for figure in FIGURE.findall(item.text):
                changed = Sentence(item.text.replace(figure, f"7{figure}", 1), item.claim)
                assert not checks.holds(changed, tables), changed.text
    # As headings, in lists and in tables, of what is to be changed, what is wrong, and what may stay.
    told = [link.text for link in links_of(documents[0])]
    assert told.count("Ask for 256 KiB") >= 4
    assert any("9,000 B" in text for text in told)
    assert any(FIGURE.search(section.title) for section in headings_of(documents[0].sections))


def claimed_titles(data: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Yield where titles with claims stand in a document's JSON."""
    if isinstance(data, dict):
        claim = data.get("claim")
        if isinstance(claim, dict) and claim.get("relation") == titles.TITLE:
            yield path
        for name, value in data.items():
            yield from claimed_titles(value, (*path, name))
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield from claimed_titles(value, (*path, place))


def at(data: object, path: tuple[object, ...]) -> tuple[str, dict[str, str]]:
    for step in path:
        data = data[step]
    return ("text" if "text" in data else "title"), data


def test_what_was_measured_stands_behind_a_value_and_another_figure_refutes_the_title(
    cast: SimpleNamespace,
) -> None:
    document = reports.build([whole.campaign(cast)], user=cast.bob, language="en")
    table = checks.tables_of(document)["grounds"]
    place = next(
        place for place, row in enumerate(table.rows) if row[grounds.TITLE].text.startswith("The path carries")
    )
    behind = {name: [list(row) for row in rows] for name, rows in table.figures.items()}
    # Its two trials at the highest load.
    assert len(behind[str(grounds.VALUE)][place]) == 2
    behind[str(grounds.VALUE)][place][0] *= 1.5
    false = checks.check(with_table(document, replace(table, figures=behind)))
    assert {wrong.sentence for wrong in false} == {table.rows[place][grounds.TITLE].text}
    rows = [list(row) for row in table.rows]
    rows[place][grounds.VALUE] = "9 Gbit/s"
    false = checks.check(with_table(document, replace(table, rows=rows)))
    assert {wrong.sentence for wrong in false} == {table.rows[place][grounds.TITLE].text}


def test_an_edition_keeps_its_titles_claims_and_one_of_before_its_text(
    cast: SimpleNamespace,
) -> None:
    campaign = whole.campaign(cast)
    for document in (reports.build([campaign], user=cast.bob, language=language) for language in LANGUAGES):
        text = serialisation.canonical(serialisation.as_json(document))
        read = serialisation.from_text(text)
        assert serialisation.canonical(serialisation.as_json(read)) == text
        claims = [said.claim for _place, said in checks.sentences_of(read) if said.claim.relation == titles.TITLE]
        assert claims
        # What was frozen before titles claimed anything.
        before = serialisation.as_json(document)
        for path in list(claimed_titles(before)):
            _name, part = at(before, path)
            del part["claim"]
        old = serialisation.canonical(before)
        assert serialisation.canonical(serialisation.as_json(serialisation.from_text(old))) == old
        assert all(
            said.claim.relation != titles.TITLE for _place, said in checks.sentences_of(serialisation.from_text(old))
        )


def test_the_service_does_not_freeze_a_title_that_its_table_refutes(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = whole.campaign(cast, "Frozen")
    report = services.begin_report(campaign=campaign, user=cast.oscar, language="en")
    table_of = Grounds.table

    def drifted(found: Grounds) -> Table:
        table = table_of(found)
        place = next(place for place, row in enumerate(table.rows) if row[grounds.VALUE] == "256 KiB")
        rows = [list(row) for row in table.rows]
        rows[place][grounds.VALUE] = "512 KiB"
        values = [list(row) for row in table.figures[str(grounds.VALUE)]]
        values[place] = [524288.0]
        return replace(table, rows=rows, figures={**table.figures, str(grounds.VALUE): values})

    monkeypatch.setattr(Grounds, "table", drifted)
    with pytest.raises(SentencesRefusedError) as refused:
        services.freeze_report(report=report, user=cast.oscar, now=timezone.now())
    assert {(wrong.sentence, wrong.right) for wrong in refused.value.sentences} == {
        ("Ask for 256 KiB", "Ask for 512 KiB")
    }
    assert not report.editions.exists()
    edition = services.freeze_report(report=report, user=cast.oscar, now=timezone.now(), is_corrected=True)
    assert checks.check(edition.document) == []
    assert "Ask for 256 KiB" not in edition.canonical
