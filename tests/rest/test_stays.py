"""What stays with its team or its campaign says so when it is to be moved, and does not answer 200."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import Membership, Role
from tests import factories
from tests.rest.test_siblings import patches

pytestmark = pytest.mark.django_db


def moved(team: Any, client: Client) -> Iterator[tuple[str, str, Any]]:
    """Yield (address, field, answer) of everything that takes a PATCH of what it belongs to, sent another one."""
    others = {"team": team.cast.other_team.slug, "campaign": team.scheduled.pk}
    for place, _row, written, _example in list(patches(team)):
        for name in others.keys() & set(written):
            yield place, name, client.patch(place, {name: others[name]}, content_type="application/json")


def test_it_is_refused_at_its_field(team: Any, cast: factories.Cast) -> None:
    # Where one might write, too.
    Membership.objects.create(team=cast.other_team, user=cast.alice, role=Role.MANAGER)
    tried = list(moved(team, Client(**factories.bearer(cast.alice))))
    assert {name for _place, name, _answer in tried} == {"team", "campaign"} and len(tried) > 10
    wrong = [(place, answer.status_code) for place, name, answer in tried if list(answer.json()["fields"]) != [name]]
    assert wrong == []
    assert {answer.status_code for _place, _name, answer in tried} == {400}


def test_a_change_of_nothing_is_refused_to_who_may_change_nothing(team: Any, cast: factories.Cast) -> None:
    client = Client(**factories.bearer(cast.bob))
    tried = [
        (place, client.patch(place, {}, content_type="application/json").status_code) for place, *_ in patches(team)
    ]
    assert [item for item in tried if item[1] != 403 and item[0] != "/api/v1/me/"] == []
    assert len(tried) > 15
