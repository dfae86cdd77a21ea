"""Whatever anybody may read of a public campaign is kept, or sent in places of which one team never has all."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import get_resolver

from apps.archive.landing import kept, views
from apps.archive.landing.models import KeptText
from apps.campaigns.models import Campaign, Run
from apps.core import downloads, outage, streams
from apps.core.limits.fair_places import Owners
from apps.results.models import Result

pytestmark = pytest.mark.django_db
# By how what is read there is bounded.
KEPT = {"c/<permanent_id>/", "c/<permanent_id>/recipe.yaml", "api/v1/permanent-ids/<permanent_id>/"}
SENT = {"c/<permanent_id>/experiments/<position>/samples.csv"}
_NAME = re.compile(r"<(?:\w+:)?(\w+)>")


@pytest.fixture
def public(measured: Campaign) -> Campaign:
    Campaign.objects.update(visibility="public", redacted=True)
    measured.refresh_from_db()
    return measured


def _routes(patterns: Any, prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from _routes(pattern.url_patterns, path)
        elif not path.startswith("admin/"):
            plain = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"<\1>", path).replace("/?", "/")
            yield _NAME.sub(r"<\1>", re.sub(r"[\^$]|\\\\Z|\\\\", "", plain))


def _addresses(route: str, campaign: Campaign) -> Iterator[str]:
    experiment, trial = campaign.experiments.earliest("pk"), campaign.trials.earliest("pk")
    rows = (campaign, experiment, trial, Run.objects.earliest("pk"), Result.objects.earliest("pk"))
    texts = {
        "permanent_id": [campaign.permanent_id],
        "position": [experiment.position],
        "ref": [f"campaign:{campaign.permanent_id}", f"trial:{campaign.permanent_id}/{experiment.position}/1"],
    }
    names = _NAME.findall(route)
    values = [texts.get(name, [row.pk for row in rows] if name in ("pk", "id") else [campaign.pk]) for name in names]
    for combination in itertools.product(*values):
        words = iter(combination)
        yield "/" + _NAME.sub(lambda _match, words=words: str(next(words)), route)


def _is_shown(route: str, campaign: Campaign) -> bool:
    """Return whether anybody may read something of a campaign at a route."""
    client = Client()
    for address in _addresses(route, campaign):
        status = client.get(address).status_code
        if status != 404:
            # Whoever must sign in must do so whatever is asked for.
            return status == 200
    return False


def test_of_each_address_at_which_anybody_reads_of_a_campaign_it_is_known_how_it_is_bounded(public: Campaign) -> None:
    routes = {route for route in _routes(get_resolver().url_patterns) if _NAME.search(route)}
    assert len(routes) > 200
    shown = {route for route in routes if _is_shown(route, public)}
    Campaign.objects.update(visibility="team")
    assert {route for route in shown if not _is_shown(route, public)} == KEPT | SENT


@pytest.mark.parametrize("route", sorted(KEPT))
def test_what_is_kept_is_written_once_and_in_places_by_team(
    public: Campaign, monkeypatch: pytest.MonkeyPatch, route: str
) -> None:
    monkeypatch.setattr(kept.writing, "_wait_s", 0.05)
    (address,) = _addresses(route, public)
    with kept.writing.turn(Owners(f"texts of team {public.team_id}")):
        assert Client().get(address).status_code == 429
    with kept.writing.turn(Owners(f"texts of team {public.team_id + 1}")):
        assert Client().get(address).status_code == 200
    assert KeptText.objects.filter(campaign=public).exists()
    with kept.writing.turn(Owners(f"texts of team {public.team_id}")):
        assert Client().get(address).status_code == 200


def test_one_teams_files_never_take_all_places_of_who_is_not_signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "WAIT_S", 0.05)
    places = downloads.Places(3)
    first = [places.place(Owners(f"reader {number}"), file_owner="team 1") for number in range(2)]
    with pytest.raises(outage.Busy):
        places.place(Owners("reader 3"), file_owner="team 1")
    places.place(Owners("reader 4"), file_owner="team 2")
    first[0].give_back()
    places.place(Owners("reader 5"), file_owner="team 1")


def test_samples_are_sent_in_the_places_of_their_team(public: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    owners = []
    monkeypatch.setattr(
        views, "send", lambda *args, owner, **options: owners.append(owner) or streams.send(*args, **options)
    )
    (address,) = _addresses(*SENT, public)
    assert Client().get(address).status_code == 200
    assert owners == [f"team {public.team_id}"]
    monkeypatch.setattr(downloads, "WAIT_S", 0.05)
    places = downloads.Places(2)
    monkeypatch.setattr(downloads, "anonymous", places)
    request = RequestFactory().get(address)
    downloads.place_for(request, *owners)
    with pytest.raises(outage.Busy):
        places.place(Owners("another"), file_owner=owners[0])
