"""Beside how sure a finding is stands how many of its trials are flagged, by the flags that bear on its metric."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from apps.bench.text import Message
from apps.bench.toolkit import Flag
from apps.campaigns.models import Campaign
from apps.reports import campaign as reports
from apps.reports import overview
from apps.reports.claims import checks
from apps.reports.document import Paragraph, Table, joined, walk
from apps.results.models import Result
from apps.tuning import queries
from apps.tuning.models import Finding
from tests import rewriting
from tests.factories import signed_in
from tests.reports import whole
from tests.reports.overview.conftest import NOW, WHOLE, make_quarter
from tests.reports.test_clauses import texts_of
from tests.reports.test_report_api import Caller

ON_IT, ON_ANOTHER, ON_ALL = "processor-full", "low-overlap", "few-intervals"


@pytest.fixture
def campaign(cast: SimpleNamespace) -> Campaign:
    """Return a campaign whose leading finding rests on eight trials: four flagged on its metric, all on another."""
    made = whole.campaign(cast)
    lead = made.findings.get(rule="tcp-window-knee")
    trials = lead.details["evidence"]
    flags = [Flag(ON_ANOTHER, "warning", Message("Apart."), ("retransmits",)).as_json()]
    rewriting.update(Result.objects.filter(trial__in=trials), flags=flags)
    bearing = [*flags, Flag(ON_IT, "warning", Message("Full."), ("goodput",)).as_json()]
    rewriting.update(Result.objects.filter(trial__in=trials[:4]), flags=bearing)
    return made


def lead_of(campaign: Campaign) -> Finding:
    return campaign.findings.get(rule="tcp-window-knee")


def test_only_flags_that_bear_on_the_metric_stand_at_a_finding(campaign: Campaign) -> None:
    lead = lead_of(campaign)
    queries.attach_flags([lead])
    assert (lead.mark.flagged, lead.mark.of, lead.mark.counts) == (4, 8, {ON_IT: 4})
    # Of a trial that measured nothing of it, and where a rule names no metric, any flag may matter.
    lost = campaign.findings.get(rule="path-loss")
    queries.attach_flags([lost])
    assert lost.mark.counts == {ON_IT: 4}
    lost.rule = "path-route"
    queries.attach_flags([lost])
    assert lost.mark.counts == {ON_IT: 4, ON_ANOTHER: 4}
    flag = Flag(ON_ALL, "info", Message("Few."), ()).as_json()
    rewriting.update(Result.objects.filter(trial__in=lead.details["evidence"][-1:]), flags=[flag])
    queries.attach_flags([lead])
    assert lead.mark.counts == {ON_IT: 4, ON_ALL: 1}


def test_pages_and_rest_tell_the_same_beside_the_confidence(cast: SimpleNamespace, campaign: Campaign) -> None:
    lead = lead_of(campaign)
    bob = signed_in(cast.bob)
    bob.cookies["django_language"] = "en"
    page = bob.get(f"/findings/{lead.pk}/").content.decode()
    told = page[page.index("confidence:") :]
    assert told.index(f"4 of 8 trials flagged: {ON_IT} × 4") < told.index("</span>")
    assert ON_ANOTHER not in page
    listed = bob.get(f"/findings/?rule={lead.rule}").content.decode()
    assert "4 of 8 trials flagged" in listed
    assert ON_ANOTHER not in listed
    caller = Caller(cast.bob)
    for found in (
        caller("GET", f"/api/v1/findings/{lead.pk}/", status=200),
        caller("GET", "/api/v1/findings/", status=200)["results"],
    ):
        one = found if isinstance(found, dict) else next(item for item in found if item["id"] == lead.pk)
        assert (one["flagged"], one["flags"]) == (4, {ON_IT: 4})


@pytest.mark.parametrize(("language", "words"), [("en", "4 of 8 trials flagged"), ("ko", "8")])
def test_a_report_says_it_beside_the_confidence_and_in_its_tables(
    cast: SimpleNamespace, campaign: Campaign, language: str, words: str, tmp_path: Path
) -> None:
    document = reports.build([campaign], user=cast.bob, language=language)
    assert checks.check(document) == []
    mark = f"{ON_IT} × 4"
    lines = [
        joined(block.parts) for block in walk(document) if isinstance(block, Paragraph) and block.style == "remark"
    ]
    beside = [line for line in lines if mark in line and lead_of(campaign).rule in line]
    assert len(beside) == 1
    assert words in beside[0]
    tables = {block.key: block for block in walk(document) if isinstance(block, Table)}
    for key in ("recommendations", "grounds"):
        assert any(mark in str(cell) for row in tables[key].rows for cell in row), key
    for name, text in texts_of(document, tmp_path).items():
        assert mark in " ".join(text.split()), name
    # What bears on another metric is not told of this one.
    assert not any(ON_ANOTHER in line for line in beside)


def test_the_report_of_a_team_tells_it_of_what_is_still_to_be_done(cast: SimpleNamespace) -> None:
    quarter = make_quarter(cast)
    campaign = quarter.weekly[0]
    trials = [trial.pk for trial in campaign.trials.all()]
    flag = Flag(ON_IT, "warning", Message("Full."), ("goodput",)).as_json()
    rewriting.update(Result.objects.filter(trial__in=trials), flags=[flag])
    title = {"msgid": "Ask for more", "params": {}}
    details = {"title": title, "evidence": trials, "proof": {"metric": "goodput"}}
    of = {"team": cast.team, "campaign": campaign, "rule": "tcp-bdp", "title": title, "details": details}
    Finding.objects.create(**of, confidence=0.9)
    document = overview.build(team=cast.team, selection=WHOLE, language="en", now=NOW)
    table = next(block for block in walk(document) if isinstance(block, Table) and block.key == "open")
    assert [column.title for column in table.columns][-1] == "Flags"
    assert [row[-1] for row in table.rows] == [
        f"{len(trials)} of {len(trials)} trials flagged: {ON_IT} × {len(trials)}"
    ]
