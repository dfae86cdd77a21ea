"""Of several campaigns each conclusion names its own and its day; what was measured otherwise since is no present."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.campaigns.models import Campaign, Trial
from apps.reports import drafts, services
from apps.reports.document import Document, Items, Paragraph, TextLink, walk
from apps.testbeds.models import Node
from apps.tuning import services as tuning
from tests.comparison.comparisons import conftest as measured
from tests.tuning.breaking import ended

NO_LONGER = "Concluded earlier, and no longer so:"


@pytest.fixture
def now_half(cast: SimpleNamespace, pair: list[Node]) -> Campaign:
    """Return a campaign of half the rates of those that `sweep` gives as they were."""
    return sweep(cast, pair, "Now", 0.5)


def sweep(cast: SimpleNamespace, pair: list[Node], name: str, factor: float, days: int = 0) -> Campaign:
    """Return the sweep of some days ago, with what the rules say of it."""
    campaign = measured.swept(cast, pair, name, factor)
    Trial.objects.filter(campaign=campaign).update(finished_at=timezone.now() - timedelta(days=days))
    done = ended(campaign)
    tuning.draw_conclusions(campaign=done, now=timezone.now())
    return done


def told(campaign: Campaign, *also: Campaign, user: object) -> Document:
    """Return the English report of a campaign that tells of others."""
    report = services.begin_report(campaign=campaign, user=user, language="en")
    services.set_scope(report=report, user=user, baseline=None, also=also)
    report.refresh_from_db()
    return drafts.build(report, user, trials=False)


def concluded(document: Document) -> dict[str, list[str]]:
    """Return {what introduces them: the lines of the conclusion}."""
    section = next(section for section in document.sections if section.key == "conclusion")
    lists: dict[str, list[str]] = {}
    intro = ""
    for block in section.blocks:
        if isinstance(block, Paragraph):
            intro = "".join(map(text_of, block.parts))
        elif isinstance(block, Items):
            lists[intro] = ["".join(map(text_of, line)) for line in block.items]
    return lists


def text_of(part: object) -> str:
    return part.text if isinstance(part, TextLink) else str(getattr(part, "text", part))


def test_what_a_later_campaign_measured_otherwise_is_not_told_as_it_is(
    cast: SimpleNamespace, pair: list[Node], now_half: Campaign
) -> None:
    earlier = sweep(cast, pair, "Then", 1.0, days=60)
    Trial.objects.filter(campaign=now_half).update(finished_at=timezone.now())
    document = told(now_half, earlier, user=cast.oscar)
    lists = concluded(document)
    was = lists.pop(NO_LONGER)
    day = f"{timezone.now() - timedelta(days=60):%Y-%m-%d}"
    assert len(was) == earlier.findings.count() > 0
    assert all(f"Then, {day}) – measured otherwise since: " in line and "(Now, " in line for line in was)
    assert not [line for lines in lists.values() for line in lines if "Then, " in line]
    # Nor is it a problem, or a change, of any other section.
    others = [section for section in document.sections if section.key in ("problems", "findings")]
    links = {block.ref for section in others for block in _links(section)}
    assert not links & {f"finding:{pk}" for pk in earlier.findings.values_list("pk", flat=True)}
    # The report rests on them all the same.
    assert len(document.rests_on) == len(set(document.rests_on))


def _links(section: object) -> list[TextLink]:
    return [
        part
        for block in walk(SimpleNamespace(summary=(), sections=(section,)))
        if isinstance(block, Items)
        for line in block.items
        for part in line
        if isinstance(part, TextLink)
    ]


@pytest.mark.parametrize("factor", [1.0, 1.02])
def test_what_was_measured_alike_stands_with_its_campaign_and_day(
    cast: SimpleNamespace, pair: list[Node], factor: float
) -> None:
    main, other = sweep(cast, pair, "Now", 1.0), sweep(cast, pair, "Other", factor, days=60)
    lists = concluded(told(main, other, user=cast.oscar))
    assert NO_LONGER not in lists
    lines = [line for title, own in lists.items() if title != "To be measured still:" for line in own]
    today, then = timezone.now(), timezone.now() - timedelta(days=60)
    sources = {f"Now, {today:%Y-%m-%d}", f"Other, {then:%Y-%m-%d}"}
    assert lines
    assert all(any(source in line for source in sources) for line in lines)
    assert all(any(source in line for line in lines) for source in sources)


def test_what_is_later_refutes_the_campaign_that_the_report_is_of(cast: SimpleNamespace, pair: list[Node]) -> None:
    main = sweep(cast, pair, "Then", 1.0, days=60)
    lists = concluded(told(main, sweep(cast, pair, "Other", 0.5), user=cast.oscar))
    assert len(lists[NO_LONGER]) == main.findings.count() > 0
    assert all("Then, " in line and "(Other, " in line for line in lists[NO_LONGER])


def test_a_report_of_one_campaign_names_neither(cast: SimpleNamespace, pair: list[Node]) -> None:
    lists = concluded(told(sweep(cast, pair, "Now", 1.0), user=cast.oscar))
    assert lists
    assert not [line for lines in lists.values() for line in lines if "Now, " in line]


def test_ends_and_settings_that_only_one_measured_refute_nothing(
    cast: SimpleNamespace, pair: list[Node], now_half: Campaign
) -> None:
    earlier = sweep(cast, list(reversed(pair)), "Then", 1.0, days=60)
    assert NO_LONGER not in concluded(told(now_half, earlier, user=cast.oscar))
