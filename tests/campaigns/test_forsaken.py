"""Private campaigns of who left the team, or only reads in it now: managers stop them, and no date starts."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace

import pytest

from apps.accounts import services as accounts
from apps.accounts.models import Membership, Role, User
from apps.campaigns import services
from apps.campaigns.models import Campaign
from apps.core import messages
from apps.testbeds.models import Node
from tests import factories as people
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, browser
from tests.campaigns.factories import NOW

State = Campaign.State


def removed(cast: SimpleNamespace, own: Membership) -> None:
    accounts.remove_member(membership=own, user=cast.alice)


def left(cast: SimpleNamespace, own: Membership) -> None:
    accounts.remove_member(membership=own, user=cast.oscar)


def demoted(cast: SimpleNamespace, own: Membership) -> None:
    accounts.change_role(membership=own, user=cast.alice, role=Role.VIEWER)


def closed(_cast: SimpleNamespace, own: Membership) -> None:
    User.objects.filter(pk=own.user_id).update(is_active=False)


GOES = pytest.mark.parametrize("goes", [removed, left, demoted, closed])


def private(cast: SimpleNamespace, pair: list[Node], **values: object) -> Campaign:
    """Return a campaign of Oscar's that he alone sees, launched."""
    draft = make.campaign(cast, **values)
    make.experiment(draft, *pair)
    services.share_campaign(campaign=draft, user=cast.oscar, visibility="private")
    draft.refresh_from_db()
    return services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)


def forsake(cast: SimpleNamespace, goes: Callable[..., None]) -> None:
    goes(cast, Membership.objects.get(team=cast.team, user=cast.oscar))


@GOES
def test_managers_see_and_stop_what_runs(cast: SimpleNamespace, pair: list[Node], goes: Callable[..., None]) -> None:
    running = private(cast, pair)
    other = people.user("olga")
    Membership.objects.create(team=cast.team, user=other, role=Role.OPERATOR)
    place = f"/campaigns/{running.pk}/"
    assert browser(cast.alice).get(place).status_code == 404
    forsake(cast, goes)
    assert [browser(person).get(place).status_code for person in (cast.alice, other)] == [200, 404]
    assert running.pk in [row["id"] for row in Api(cast.alice)("get", "/campaigns/").json()["results"]]
    assert Api(cast.alice)("post", f"/campaigns/{running.pk}/cancel/").status_code == 200
    running.refresh_from_db()
    assert running.state == State.CANCELLED


@GOES
@pytest.mark.parametrize("when", [{"cron": "0 2 * * *"}, {"start_at": NOW + timedelta(hours=1)}])
def test_no_date_starts_in_their_name(
    cast: SimpleNamespace, pair: list[Node], goes: Callable[..., None], when: dict[str, object]
) -> None:
    series = private(cast, pair, **when)
    forsake(cast, goes)
    assert services.launch_due(now=NOW + timedelta(days=1)) == []
    series.refresh_from_db()
    assert (series.state, series.next_at, series.occurrences.count()) == (State.PAUSED, None, 0)
    assert series.skipped_dates == ("cron" in when)
    last = series.events.order_by("-pk").first()
    assert last is not None and "private to oscar" in messages.render(last.message)
    # Shown to the team it is the team's, and goes on.
    services.share_campaign(campaign=series, user=cast.alice, visibility="team")
    services.resume_campaign(campaign=series, user=cast.alice, now=NOW + timedelta(days=1))
    assert len(services.launch_due(now=NOW + timedelta(days=3))) == 1


def test_those_of_who_stays_start(cast: SimpleNamespace, pair: list[Node]) -> None:
    private(cast, pair, cron="0 2 * * *")
    assert len(services.launch_due(now=NOW + timedelta(days=1))) == 1
