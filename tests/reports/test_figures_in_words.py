"""No figure stands in the service's own words of a report without a claim that is asked of the report's tables.

What rules say in their own words beside present and predicted figures is theirs, and not looked at here.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.utils import translation
from django.utils.translation import gettext

from apps.bench.text import Message
from apps.bench.toolkit import Flag
from apps.campaigns.models import Trial
from apps.reports import campaign as reports
from apps.reports import overview
from apps.reports.claims import checks, words
from apps.reports.document import Document, Figure, Items, Paragraph, Section, Sentence, Table, TextLink, walk
from apps.results.models import Result
from tests import rewriting
from tests.reports import whole
from tests.reports.overview.conftest import NOW, START, WEEK, WHOLE, make_quarter
from tests.test_translations import texts_in_python

FIGURE = re.compile(r"\d[\d.,]*(?<![.,])")
LANGUAGES = ("en", "ko")


def bare_of(document: Document) -> Iterator[str]:
    """Yield the words of a document that have a figure and no claim: neither a fixed text nor a heading."""
    with translation.override(document.language):
        fixed = {gettext(text) for text in texts_in_python() if "%(" not in text}
    titles = {f"{title} – " for section in document.sections for title in titles_of(section)}
    for block in walk(document):
        for parts in parts_of(block):
            for part in parts:
                if isinstance(part, str) and FIGURE.search(part) and part not in fixed | titles:
                    yield part


def parts_of(block: object) -> Iterator[tuple[object, ...]]:
    if isinstance(block, Paragraph):
        yield block.parts
    elif isinstance(block, Items):
        yield from block.items
    elif isinstance(block, Figure) and not block.says:
        yield (block.sentence,)


def titles_of(section: Section) -> Iterator[str]:
    yield section.title
    for part in section.sections:
        yield from titles_of(part)


def unheld_of(document: Document) -> Iterator[tuple[str, str]]:
    """Yield (figure, sentence) of what a claimed sentence says, and neither its claim nor its row or title holds."""
    tables = checks.tables_of(document)
    for _place, said in checks.sentences_of(document):
        # The words of these are made of their claims alone.
        if said.claim.relation in words.TEXTS:
            continue
        known = [text for line in document.meta for text in line] + names_of(said, tables.get(said.claim.topic.table))
        held = set(FIGURE.findall(" ".join([*known, *map(str, said.claim.says.values())])))
        yield from ((figure, said.text) for figure in FIGURE.findall(said.text) if figure not in held)


def names_of(said: Sentence, table: Table | None) -> list[str]:
    """Return the texts of the row that a sentence speaks of: what is compared there is called so."""
    rows = table.rows if table else ()
    named = [row for row in rows if said.claim.topic.rows and str(row[0]) == said.claim.topic.rows[0][1]]
    return [
        cell.text if isinstance(cell, TextLink) else cell
        for row in named
        for cell in row
        if isinstance(cell, TextLink | str)
    ]


@pytest.fixture
def documents(cast: SimpleNamespace) -> list[Document]:
    """Return reports of both kinds in both languages, of campaigns with what may be said of them."""
    make_quarter(cast)
    campaign = whole.campaign(cast)
    Trial.objects.filter(campaign=campaign, position=0).update(invalid_at=NOW, invalid_reason="The link was down.")
    first, second = Result.objects.filter(experiment__campaign=campaign)[:2]
    flag = Flag("no-data", "invalid", Message("Nothing was moved."), ()).as_json()
    rewriting.update(Result.objects.filter(pk=first.pk), flags=[flag])
    rewriting.update(Result.objects.filter(pk=second.pk), edition=2)
    lead = campaign.findings.get(rule="tcp-window-knee")
    judged = {"judged_at": NOW.replace(day=1), "verdict": "verified", "unit": "bit/s", "pairs": 6, "proof": {}}
    lead.verifications.create(present=4.5e8, realised=8.1e8, gain=1.8, gain_low=1.7, gain_high=1.9, **judged)
    done = [reports.build([campaign], user=cast.bob, language=language, baseline=campaign) for language in LANGUAGES]
    # Of its first weeks alone nothing is told to have become worse.
    early = replace(WHOLE, last=(START + WEEK).date())
    return done + [
        overview.build(team=cast.team, selection=selection, language=language, now=NOW)
        for language in LANGUAGES
        for selection in (WHOLE, early)
    ]


def test_no_figure_stands_in_words_without_a_claim_that_holds_it(documents: list[Document]) -> None:
    for document in documents:
        assert checks.check(document) == []
        assert list(bare_of(document)) == []
        assert list(unheld_of(document)) == []
