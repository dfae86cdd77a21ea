"""Every page, list, file and mail that counts trials says the same of campaigns in every state."""

import re
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.bench.text import Message
from apps.campaigns import queries, services
from apps.campaigns.models import Campaign, Trial
from apps.campaigns.queries import OUTCOMES, Progress
from apps.campaigns.services import adaptation
from apps.core import messages
from apps.reports.campaign import material, method
from apps.reports.overview import activity, scope
from apps.reports.overview.selection import DATES, Selection
from apps.testbeds.models import Node
from tests import factories, rewriting
from tests.campaigns import factories as make
from tests.campaigns.browsing import browser
from tests.campaigns.factories import NOW, take
from tests.rotation import part_of

WHY = Message("It broke.")


def measure(count: int) -> None:
    for _number in range(count):
        (run,) = take()
        services.succeed_run(run=run, now=NOW)


def fail(count: int) -> None:
    for _number in range(count):
        (run,) = take()
        services.fail_run(run=run, reason=WHY, code="broken", retryable=False, now=NOW)


def cancel(cast: SimpleNamespace, campaign: Campaign) -> None:
    campaign.refresh_from_db()
    services.cancel_campaign(campaign=campaign, user=cast.oscar, now=NOW)


def all_measured(cast: SimpleNamespace, campaign: Campaign) -> None:
    measure(4)


def all_failed(cast: SimpleNamespace, campaign: Campaign) -> None:
    fail(4)


def cancelled_with_none(cast: SimpleNamespace, campaign: Campaign) -> None:
    cancel(cast, campaign)


def cancelled_before_all_were_marked(cast: SimpleNamespace, campaign: Campaign) -> None:
    measure(1)
    cancel(cast, campaign)
    Trial.objects.filter(campaign=campaign, position__gte=2).update(state="pending", finished_at=None)


def mixed(cast: SimpleNamespace, campaign: Campaign) -> None:
    measure(1)
    fail(1)
    cancel(cast, campaign)


def under_way(cast: SimpleNamespace, campaign: Campaign) -> None:
    measure(1)
    fail(1)
    take()


def with_more_repetitions(cast: SimpleNamespace, campaign: Campaign) -> None:
    measure(2)
    adaptation.add_repetitions(like=campaign.trials.select_related("experiment").first(), count=3, now=NOW)
    measure(3)


def run_again(cast: SimpleNamespace, campaign: Campaign) -> None:
    measure(2)
    fail(2)
    services.rerun_failed(campaign=campaign, user=cast.oscar)
    measure(1)


def with_a_warmup(cast: SimpleNamespace, campaign: Campaign) -> None:
    rewriting.update(Trial.objects.filter(pk=campaign.trials.first().pk), is_warmup=True)
    measure(2)
    fail(1)


def one_set_aside(cast: SimpleNamespace, campaign: Campaign) -> None:
    measure(4)
    pk = campaign.trials.first().pk
    Trial.objects.filter(pk=pk).update(invalid_at=NOW, invalid_by=cast.oscar, invalid_reason="It stormed.")


CASES: dict[Callable[[SimpleNamespace, Campaign], None], Progress] = {
    all_measured: Progress(measured=4),
    all_failed: Progress(failed=4),
    cancelled_with_none: Progress(not_measured=4),
    cancelled_before_all_were_marked: Progress(measured=1, not_measured=3),
    mixed: Progress(measured=1, failed=1, not_measured=2),
    under_way: Progress(measured=1, failed=1, running=1, waiting=1),
    with_more_repetitions: Progress(measured=5, waiting=2),
    run_again: Progress(measured=3, waiting=1),
    with_a_warmup: Progress(measured=2, failed=1, waiting=1, warmups=1),
    one_set_aside: Progress(measured=4, set_aside=1),
}


def in_state(bring: Callable[[SimpleNamespace, Campaign], None], cast: SimpleNamespace, pair: list[Node]) -> Any:
    """Return a campaign in one of the states, and what is to be said of its trials."""
    campaign = make.launched(cast, *pair)
    bring(cast, campaign)
    services.finish_campaigns(now=NOW)
    campaign.refresh_from_db()
    return SimpleNamespace(campaign=campaign, expected=CASES[bring])


def words(expected: Progress) -> dict[str, str]:
    return {name: str(text) % {"n": getattr(expected, name)} for name, text in OUTCOMES.items()}


def count_itself(case: SimpleNamespace, cast: SimpleNamespace) -> None:
    assert queries.progress_of([case.campaign.pk]) == {case.campaign.pk: case.expected}
    experiment = case.campaign.experiments.get()
    assert queries.progress_of_experiments([experiment.pk]) == {experiment.pk: case.expected}
    assert sum(segment.count for segment in case.expected.segments) == case.expected.total


def pages_in_words_and_as_a_bar(case: SimpleNamespace, cast: SimpleNamespace) -> None:
    viewer, pk = browser(cast.bob), case.campaign.pk
    said = words(case.expected)
    for address in (
        reverse("campaigns:campaign_detail", args=[pk]),
        reverse("campaigns:campaign_status", args=[pk]),
        reverse("campaigns:campaign_list"),
    ):
        page = viewer.get(address).content.decode()
        bar = re.search(r'<div class="trials-bar">\s*<svg viewBox="0 0 (\d+) 1".*?</svg>', page, re.DOTALL)
        assert bar
        assert int(bar[1]) == case.expected.total
        widths = dict(re.findall(r'class="bar-(\w+)" x="\d+" width="(\d+)"', bar[0]))
        assert widths == {part.outcome: str(part.count) for part in case.expected.segments}
        assert f'role="img" aria-label="{case.expected.text}"' in bar[0]
        for name, text in said.items():
            # The log names trials by their ids: “Trial 120 failed” counts none.
            is_there = bool(re.search(rf"(?<![\d,]){re.escape(text)}", page))
            assert is_there == bool(getattr(case.expected, name)) or name == "measured"
        assert "100 %" not in page


def rest(case: SimpleNamespace, cast: SimpleNamespace) -> None:
    client = Client()
    told = client.get(f"/api/v1/campaigns/{case.campaign.pk}/", **factories.bearer(cast.bob)).json()["progress"]
    assert told.items() >= {**asdict(case.expected), "total": case.expected.total}.items()
    listed = client.get("/api/v1/campaigns/", **factories.bearer(cast.bob)).json()["results"][0]["progress"]
    assert listed == told
    states = (told["pending"], told["succeeded"], told["cancelled"])
    assert states == (case.expected.waiting, case.expected.measured, case.expected.not_measured)


def report_of_the_campaign(case: SimpleNamespace, cast: SimpleNamespace) -> None:
    made = material.read([case.campaign], cast.oscar)
    assert made.trials() == case.expected
    assert case.expected.text in method.extent(made)


def management_report_of_what_has_ended(case: SimpleNamespace, cast: SimpleNamespace) -> None:
    found = counted(cast)
    # As that report says, it counts no warm-ups.
    ended = Trial.objects.filter(campaign=case.campaign, finished_at__isnull=False, is_warmup=False).count()
    assert found.total == ended
    if ended == case.expected.total:
        assert found == case.expected


def counted(cast: SimpleNamespace) -> Progress:
    """Return what the management report counts around the day of the tests."""
    day = Selection(DATES, NOW.date() - timedelta(days=1), NOW.date() + timedelta(days=1))
    period = day.period_at(NOW + timedelta(days=2))
    return activity.read(scope.read(cast.team, day, period)).total.progress


def log_at_the_end(case: SimpleNamespace, cast: SimpleNamespace) -> None:
    log = [messages.render(event.message) for event in case.campaign.events.all()]
    ends = [text for text in log if text.startswith("Finished")]
    assert bool(ends) == (case.campaign.state == "finished")
    wanted = f"Finished; trials measured: {case.expected.measured}, failed: {case.expected.failed}."
    assert not ends or ends[0] == wanted


def landing_page(case: SimpleNamespace, cast: SimpleNamespace) -> None:
    page = browser(cast.bob).get(reverse("landing:campaign", args=[case.campaign.permanent_id])).content.decode()
    assert case.expected.text in page


WHERE = (
    count_itself, pages_in_words_and_as_a_bar, rest, report_of_the_campaign, management_report_of_what_has_ended,
    log_at_the_end, landing_page,
)  # fmt: skip


@pytest.mark.parametrize("bring", CASES, ids=lambda bring: bring.__name__)
def test_the_same_is_said_everywhere(
    bring: Callable[[SimpleNamespace, Campaign], None], cast: SimpleNamespace, pair: list[Node]
) -> None:
    # None of them changes anything: one campaign does for all.
    case = in_state(bring, cast, pair)
    first = list(CASES).index(bring) % len(WHERE)
    for says in part_of([*WHERE[first:], *WHERE[:first]], 2):
        says(case, cast)


def test_a_cancelled_campaign_is_never_full_and_green(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    cancel(cast, campaign)
    page = browser(cast.bob).get(reverse("campaigns:campaign_detail", args=[campaign.pk])).content.decode()
    assert "bar-measured" not in page
    assert "0 of 4 trials measured, 4 not measured" in page
