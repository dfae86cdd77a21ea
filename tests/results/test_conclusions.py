"""What is concluded over all campaigns rests on one's own and on what was offered and accepted, whoever draws it."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from apps.archive.search.entries import index_due
from apps.campaigns.models import Campaign
from apps.tuning.models import Finding
from tests.campaigns import factories as make
from tests.comparison.history.conftest import START, WEEK, measured

# What only the strangers' things are called by, and their team.
MARK, TEAM, SLUG = "Zzyzx", "Borrowed Names", '"team":"strangers"'
# They list what one may see, and say whose it is; nothing is concluded from it.
LISTS = {
    "campaigns/", "archive/", "compare/", "compare/add/", "api/v1/campaigns/", "api/v1/archive/",
    "api/v1/archive/facets/",
}  # fmt: skip
OFFERS = {"campaigns/offers/", "api/v1/campaign-offers/"}
# These conclude over all campaigns, and say whose it is where it is another team's.
CONCLUSIONS = {
    "compare/?set=tool:iperf3-tcp", "findings/", "findings/sites/", "history/", "matrix/",
    "matrix/table.csv", "matrix/table.json",
    "matrix/panel/", "",
    "api/v1/findings/", "api/v1/histories/", "api/v1/matrix/", "api/v1/site-layers/",
}  # fmt: skip


def addresses(resolver: URLResolver | None = None, route: str = "") -> Iterator[str]:
    """Yield the address of every page, file and REST answer that names nothing, but for the administrator's."""
    for item in (resolver or get_resolver()).url_patterns:
        whole = route + str(item.pattern).replace("^", "").replace("$", "").replace(r"\Z", "")
        if isinstance(item, URLResolver) and not whole.startswith("admin/"):
            yield from addresses(item, whole)
        elif isinstance(item, URLPattern) and not any(sign in whole for sign in "<(["):
            yield whole.replace("\\", "")


@pytest.fixture
def theirs(cast: SimpleNamespace) -> list[Campaign]:
    """Return two campaigns of strangers, which measured the same between sites of theirs and were not analysed."""
    cast.other_team.name = TEAM
    cast.other_team.save()
    others = SimpleNamespace(team=cast.other_team, oscar=cast.charlie)
    [a] = make.nodes(cast.other_team, f"{MARK}-a", site=f"{MARK} one")
    [b] = make.nodes(cast.other_team, f"{MARK}-b", site=f"{MARK} two")
    make.link(a, b, f"{MARK}-wan")
    found = [measured(others, [a, b], 9e8, START + week * WEEK, name=f"{MARK} {week}") for week in range(2)]
    for campaign in found:
        title = {"msgid": MARK, "params": {}}
        values = {"rule": "x", "title": title, "details": {}, "confidence": 0.9}
        Finding.objects.create(team=cast.other_team, campaign=campaign, **values)
    Campaign.objects.filter(pk__in=[campaign.pk for campaign in found]).update(state="finished", finished_at=START)
    index_due(now=timezone.now())
    return found


def readers_of(client: Client, mark: str = MARK) -> dict[str, str]:
    """Return {address: its text} of what shows the mark."""
    found = {}
    known = set(addresses())
    for address in sorted({*known, *(f"{item}?set=tool:iperf3-tcp" for item in known if "compar" in item)}):
        answer: Any = client.get(f"/{address}")
        if answer.status_code == 200:
            content = b"".join(answer.streaming_content) if answer.streaming else answer.content
            if mark in (text := content.decode(errors="replace")):
                found[address] = text
    return found


def test_what_is_public_is_listed_and_nothing_is_concluded_from_it(
    client: Client, cast: SimpleNamespace, theirs: list[Campaign]
) -> None:
    Campaign.objects.update(visibility="public", redacted=False)
    client.force_login(cast.oscar)
    assert readers_of(client).keys() == LISTS


def test_what_is_offered_is_in_the_list_of_offers_alone(
    client: Client, cast: SimpleNamespace, theirs: list[Campaign]
) -> None:
    for campaign in theirs:
        make.share(campaign, cast.team, "offered")
    client.force_login(cast.oscar)
    assert readers_of(client).keys() == OFFERS


def test_what_was_declined_is_nowhere(client: Client, cast: SimpleNamespace, theirs: list[Campaign]) -> None:
    for campaign in theirs:
        make.share(campaign, cast.team, "declined")
    client.force_login(cast.oscar)
    assert readers_of(client) == {}


def test_what_was_accepted_counts_and_says_whose_it_is(
    client: Client, cast: SimpleNamespace, theirs: list[Campaign]
) -> None:
    for campaign in theirs:
        make.share(campaign, cast.team)
    client.force_login(cast.oscar)
    found = readers_of(client)
    assert found.keys() == CONCLUSIONS | LISTS | OFFERS
    # A facet is a value with a number, and the team one of them.
    del found["api/v1/archive/facets/"]
    assert {address for address, text in found.items() if TEAM not in text and SLUG not in text} == set()


def test_a_history_holds_of_another_teams_only_what_was_accepted(
    client: Client, cast: SimpleNamespace, theirs: list[Campaign]
) -> None:
    def levels(user: Any) -> list[str]:
        client.force_login(user)
        lane = theirs[0].experiments.get().lanes.get()
        return [level["name"] for level in client.get(f"/api/v1/histories/{lane.pk}/").json()["levels"]]

    both = [campaign.name for campaign in theirs]
    make.share(theirs[0], cast.team)
    assert levels(cast.oscar) == both[:1]
    assert levels(cast.charlie) == both
    make.share(theirs[1], cast.team)
    assert levels(cast.oscar) == both
    Campaign.objects.update(visibility="public", redacted=False)
    assert levels(cast.oscar) == both[:1]
    assert levels(cast.charlie) == both
