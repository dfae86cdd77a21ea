"""Where rules had no run to look at, nobody says that nothing was found: no section, file, page, command or call."""

import io
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.campaigns.models import Campaign
from apps.reports import drafts, serialisation, services
from apps.reports.files.slides.lines import lines_of
from apps.reports.models import Report
from apps.reports.overview import material as overview
from apps.reports.overview import outcomes
from apps.reports.overview.selection import DATES, Selection
from apps.testbeds.models import Node
from apps.tuning import services as tuning
from apps.tuning import untold
from tests.archive.imports.test_not_told import GOODPUT, REPEATED, STREAMS, USUAL, stored, table

# What is said where rules looked and found nothing.
NOTHING = ("othing was found", "o change is recommended", "othing is to be changed", "o finding yet")
NOT_KNOWN = ("left all of them out", "is to be recommended is not known")
SECTIONS = ("summary", "problems", "findings", "conclusion")


def analysed(cast: SimpleNamespace, ends: list[Node], *, is_told: bool) -> Campaign:
    """Return an imported campaign of which nothing was found, though its analysis is done."""
    values = {"alike": True, "parameters": USUAL if is_told else {}}
    content = REPEATED if is_told else REPEATED + b"8,400\n"
    campaign = stored(table(cast, content, streams=STREAMS, goodput=GOODPUT), ends, **values)
    tuning.draw_conclusions(campaign=campaign, now=timezone.now())
    campaign.findings.all().delete()
    campaign.refresh_from_db()
    return campaign


def document_of(campaign: Campaign, user: Any) -> Any:
    report = services.begin_report(campaign=campaign, user=user, language="en")
    return drafts.build(Report.objects.get(pk=report.pk), user)


def texts_of(document: Any) -> dict[str, str]:
    """Return the text of every section, and of the summary, which slides and mails have alone."""
    sections = {section.key: serialisation.canonical(serialisation.as_json(section)) for section in document.sections}
    return {"summary": " ".join(str(line) for line in lines_of(document.summary)), **sections}


@pytest.mark.parametrize("is_told", [True, False])
def test_who_says_that_nothing_was_found_has_asked_whether_anything_was_looked_at(
    cast: SimpleNamespace, ends: list[Node], client: Client, *, is_told: bool
) -> None:
    campaign = analysed(cast, ends, is_told=is_told)
    message = untold.silent_for(campaign)
    assert bool(message) is not is_told and (is_told or "Direction" in str(message))
    texts = texts_of(document_of(campaign, cast.oscar))
    client.force_login(cast.oscar)
    texts["page"] = client.get(reverse("tuning:campaign_panel", args=[campaign.pk])).content.decode()
    now = timezone.now()
    chosen = Selection(DATES, (now - timedelta(days=2)).date(), (now + timedelta(days=2)).date())
    made = overview.read(cast.team, chosen, chosen.period_at(now))
    texts["overview"] = serialisation.canonical(serialisation.as_json(outcomes.findings(made)))
    saying = {name for name, text in texts.items() if any(words in text for words in NOTHING)}
    admitting = {name for name, text in texts.items() if any(words in text for words in NOT_KNOWN)}
    asked = {*SECTIONS, "page", "overview"}
    assert saying == (asked if is_told else set())
    assert admitting == (set() if is_told else asked)
    rest = client.get(f"/api/v1/analyses/{campaign.pk}/").json()
    out, errors = io.StringIO(), io.StringIO()
    call_command("findings", campaign=str(campaign.pk), stdout=out, stderr=errors)
    assert ("left all of them out" in rest["silent"]) is ("left all of them out" in errors.getvalue()) is not is_told
    assert out.getvalue() == ""


def test_beside_a_campaign_with_findings_one_without_a_run_to_look_at_is_named(
    cast: SimpleNamespace, ends: list[Node]
) -> None:
    from apps.reports.campaign import analysis, material, short
    from apps.reports.campaign.grounds import Grounds

    silent, other = analysed(cast, ends, is_told=False), analysed(cast, ends, is_told=True)
    made = material.read([other, silent], cast.oscar)
    assert not made.is_concluded and [campaign for campaign, _line in made.silent] == [silent]
    nothing = Grounds({}, {})
    for blocks in (short.summary(made, nothing), short.conclusion(made), analysis.problems(made, nothing).blocks):
        assert f"{silent.name}: Not known: " in str(blocks)
        assert not any(words in str(blocks) for words in NOTHING)
