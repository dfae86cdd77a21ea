"""A report is not frozen with a sentence that its own tables refute; what an author typed is marked as theirs."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone, translation

from apps.campaigns.models import Campaign
from apps.reports import drafts, serialisation, services, truthful
from apps.reports.campaign import material, swept
from apps.reports.claims import checks
from apps.reports.document import Document, Figure, Paragraph, Section, Table, walk
from apps.reports.files import cells
from apps.reports.models import Report
from tests.comparison.comparisons import conftest as measured
from tests.factories import signed_in
from tests.reports import documents
from tests.reports.test_report_api import Caller
from tests.tuning.breaking import ended

# Of the document in tests/reports/documents.py, taken before there were claims.
BEFORE = "58e073f45cbf4af248c1e1138ef7dceb71b87114619c8a63feef4bd14685eea8"


@pytest.fixture
def campaign(cast: SimpleNamespace) -> Campaign:
    """Return a campaign of 12 trials."""
    factors = [{"name": "window", "expression": "64KiB, 128KiB, 256KiB"}]
    a, b = measured.make.nodes(cast.team, "kisti01", "pnu01")
    return ended(measured.swept(cast, [a, b], "Windows", factors=factors, fixed={"streams": "1"}, repetitions=4))


@pytest.fixture
def drifting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print other figures in the tables of sweeps than those that the sentences were told of."""
    made_before = swept.section

    def section(made: material.Material, experiment: Any) -> Section:
        found = made_before(made, experiment)
        return replace(found, blocks=tuple(map(drifted, found.blocks)))

    def drifted(block: Any) -> Any:
        if not isinstance(block, Table):
            return block
        place = [column.title for column in block.columns].index("n") + 1
        rows = [[*row[:place], 2 * row[place], *row[place + 1 :]] for row in block.rows]
        return replace(block, rows=rows)

    monkeypatch.setattr(swept, "section", section)


def report_of(cast: SimpleNamespace, campaign: Campaign, language: str = "en") -> Report:
    return services.begin_report(campaign=campaign, user=cast.oscar, language=language)


def figure_of(document: Document) -> Figure:
    return next(block for block in walk(document) if isinstance(block, Figure) and block.key.startswith("figure-"))


def test_every_sentence_of_a_report_holds_and_is_frozen_with_its_claim(
    cast: SimpleNamespace, campaign: Campaign
) -> None:
    for language in ("en", "ko"):
        edition = services.freeze_report(
            report=report_of(cast, campaign, language), user=cast.oscar, now=timezone.now()
        )
        said = [sentence for _place, sentence in checks.sentences_of(edition.document)]
        assert len({sentence.claim.relation for sentence in said}) >= 2
        assert checks.check(edition.document) == []
        heads = [
            [cells.head_of(column) for column in block.columns]
            for block in walk(edition.document)
            if isinstance(block, Table)
        ]
        assert all(len(set(titles)) == len(titles) for titles in heads)


def test_over_rest_the_refusal_names_the_sentence_and_the_right_one(
    cast: SimpleNamespace, campaign: Campaign, drifting: None
) -> None:
    report = report_of(cast, campaign)
    oscar = Caller(cast.oscar)
    answer = oscar("POST", f"/api/v1/reports/{report.pk}/freeze/", {}, status=409)
    wrong = answer["sentences"][0]
    assert wrong["sentence"] in answer["detail"]
    assert wrong["right"] in answer["detail"]
    assert wrong["sentence"] != wrong["right"]
    assert wrong["table"]
    assert not report.editions.exists()
    made = oscar("POST", f"/api/v1/reports/{report.pk}/freeze/", {"is_corrected": True}, status=201)
    edition = report.editions.get(permanent_id=made["id"])
    assert checks.check(edition.document) == []
    assert wrong["right"] in figure_of(edition.document).sentence


def test_the_page_offers_the_right_sentence_in_korean_too(
    cast: SimpleNamespace, campaign: Campaign, drifting: None
) -> None:
    report = report_of(cast, campaign, "ko")
    oscar = signed_in(cast.oscar)
    oscar.cookies["django_language"] = "ko"
    answer = oscar.post(f"{report.get_absolute_url()}freeze/", {"note": "처음"})
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "표와 맞지 않습니다" in text
    assert "증가합니다" in text
    assert "처음" in text
    done = oscar.post(f"{report.get_absolute_url()}freeze/", {"note": "처음", "corrected": "yes"})
    assert done.status_code == 302
    assert checks.check(report.editions.get().document) == []


def test_what_an_author_typed_claims_nothing_and_says_whose_it_is(cast: SimpleNamespace, campaign: Campaign) -> None:
    report = report_of(cast, campaign)
    key = figure_of(drafts.build(report, cast.oscar)).key
    edits = {"words": {key: "It is 9 Gbit/s.", "purpose": "Mine."}, "remarks": {"method": "Mind."}}
    services.edit_report(report=report, user=cast.oscar, edits=edits)
    report.refresh_from_db()
    edition = services.freeze_report(report=report, user=cast.oscar, now=timezone.now())
    figure = figure_of(edition.document)
    assert (figure.sentence, figure.says, figure.is_authors) == ("It is 9 Gbit/s.", (), True)
    with translation.override("en"):
        assert cells.sentence_of(figure) == "It is 9 Gbit/s. [the author's words]"
    typed = [block.parts[0] for block in walk(edition.document) if isinstance(block, Paragraph) and block.is_authors]
    assert typed == ["Mine.", "Mind."]
    bob = signed_in(cast.bob)
    bob.cookies["django_language"] = "en"
    page = bob.get(edition.get_absolute_url()).content.decode()
    assert page.count(">the author's words<") == 3


def test_editions_of_before_keep_their_text_and_checksum(cast: SimpleNamespace) -> None:
    text = serialisation.canonical(serialisation.as_json(documents.document()))
    assert serialisation.checksum(text) == BEFORE
    assert serialisation.from_text(text) is not None
    assert truthful.require_true(documents.document()) == documents.document()
