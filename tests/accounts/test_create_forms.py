"""Every form that makes something carries the team that it shows, and makes it there or nowhere."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from apps.accounts import services
from apps.accounts.models import Membership, Role, Team, User
from apps.campaigns.models import Campaign
from apps.campaigns.recipes import RECIPES
from apps.testbeds.models import Site
from tests import factories
from tests.factories import Cast, signed_in
from tests.rotation import part_of

pytestmark = pytest.mark.django_db
FORM = re.compile(r"<form(?P<start>[^>]*)>(?P<inside>.*?)</form>", re.DOTALL)
NAMED = re.compile(r'<input type="hidden" name="team" value="([^"]+)"')
ACTION = re.compile(r'action="([^"]+)"')
# Forms that are looked at in every run.
MAKING = {"/inventory/sites/new/", "/campaigns/new/", "/tools/new/"}
# The form is of no new thing of a team.
OTHER = ("/accounts/", "/i18n/", "/theme/", "/sign-out/")


def addresses(patterns: Any = None, prefix: str = "/") -> Iterator[str]:
    """Yield the address of every page that takes no argument, and of a template's."""
    for item in get_resolver().url_patterns if patterns is None else patterns:
        place = prefix + str(item.pattern)
        if isinstance(item, URLResolver):
            yield from addresses(item.url_patterns, place)
        elif (
            isinstance(item, URLPattern) and "<" not in place and "(?" not in place and not place.startswith("/api/")
        ):
            yield place
    if patterns is None:
        yield from (f"/campaigns/templates/{slug}/" for slug in RECIPES)


@pytest.fixture
def teams(cast: Cast) -> tuple[Team, Team]:
    """Return the team that Oscar sees in forms, and another that he may write in, too."""
    other = factories.team("blue", manager=cast.charlie)
    Membership.objects.create(team=other, user=cast.oscar, role=Role.MANAGER)
    Membership.objects.filter(team=cast.team, user=cast.oscar).update(role=Role.MANAGER)
    User.objects.filter(pk=cast.oscar.pk).update(default_team=cast.team)
    cast.oscar.refresh_from_db()
    return cast.team, other


def sent(client: Client) -> Iterator[tuple[str, str | None]]:
    """Yield (address it is sent to, team that it carries) of each form on a page on which a team is chosen."""
    for place in part_of(sorted(set(addresses()) - MAKING)) + sorted(MAKING):
        answer = client.get(place)
        names = {template.name for template in getattr(answer, "templates", ())}
        if answer.status_code != 200 or "components/team_choice.html" not in names:
            continue
        forms = [found for found in FORM.finditer(answer.content.decode()) if 'method="post"' in found["start"]]
        own = [item for item in forms if not any(f'action="{part}' in item["start"] for part in OTHER)]
        for inside in own:
            carried, action = NAMED.search(inside["inside"]), ACTION.search(inside["start"])
            yield action[1] if action else place, carried[1] if carried else None


def test_each_carries_the_team_that_it_shows_and_is_refused_once_that_is_closed(
    cast: Cast, teams: tuple[Team, Team]
) -> None:
    shown, _other = teams
    client = signed_in(cast.oscar)
    found = list(sent(client))
    assert {place for place, _team in found} >= MAKING
    assert [item for item in found if item[1] != shown.slug] == []
    services.remove_member(membership=Membership.objects.get(team=shown, user=cast.oscar), user=cast.alice)
    answers = {place: client.post(place, {"name": "x", "team": team}).status_code for place, team in found}
    assert {place: status for place, status in answers.items() if status not in (403, 404)} == {}


def test_another_choice_in_another_tab_does_not_move_what_was_typed(cast: Cast, teams: tuple[Team, Team]) -> None:
    shown, other = teams
    client = signed_in(cast.oscar)
    kept = NAMED.search(client.get("/campaigns/new/").content.decode())
    assert kept is not None
    User.objects.filter(pk=cast.oscar.pk).update(default_team=other)
    dates = {"cron_timezone": "UTC", "overlap": "skip"}
    assert client.post("/campaigns/new/", {"name": "Sweep", "team": kept[1], **dates}).status_code == 302
    assert client.post("/inventory/sites/new/", {"name": "Seoul", "team": kept[1]}).status_code == 302
    assert Campaign.objects.get(name="Sweep").team == Site.objects.get(name="Seoul").team == shown
