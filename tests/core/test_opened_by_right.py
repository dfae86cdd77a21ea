"""What a person opened by a right, to be used later, ends with that right: one case for each row that names a person.

Each asks whether whoever opened it still may at the moment when it is used; or a reason says why it need not.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from apps.accounts import invitations
from apps.accounts import services as accounts
from apps.accounts.models import Membership, Role, User
from apps.agents import services as agents
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign
from apps.campaigns.services import offers
from apps.core import messages
from apps.reports import services as reports
from apps.reports.models import Delivery, Schedule
from apps.reports.overview.selection import Selection
from apps.reports.schedules import deliveries
from apps.reports.schedules import services as schedules
from apps.testbeds.models import Node
from tests import factories as people
from tests.campaigns import factories as make

# Returns the words with which the use is refused, "" if it is not.
Use = Callable[[], str]
NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


def refusal_of(use: Callable[[], object], *refusals: type[Exception]) -> str:
    try:
        use()
    except refusals as refused:
        return " ".join(getattr(refused, "messages", [str(refused)]))
    return ""


def invitation(cast: SimpleNamespace, eve: User, _pair: list[Node]) -> Use:
    now = timezone.now()
    row = invitations.invite(team=cast.team, user=eve, username="charlie", role=Role.MANAGER, now=now)
    return lambda: refusal_of(lambda: invitations.accept(invitation=row, user=cast.charlie, now=now), ValidationError)


def enrolment(_cast: SimpleNamespace, eve: User, pair: list[Node]) -> Use:
    now = timezone.now()
    text = agents.issue_enrolment_token(node=pair[0], user=eve, now=now).text
    return lambda: refusal_of(
        lambda: agents.enrol_agent(token_text=text, version="1", now=now), agents.EnrolmentRefused
    )


def offer(cast: SimpleNamespace, eve: User, _pair: list[Node]) -> Use:
    draft = make.campaign(cast)
    campaigns.share_campaign(campaign=draft, user=eve, visibility="shared", shared_with=["strangers"])
    share = draft.shares.get()
    return lambda: refusal_of(lambda: offers.accept(share=share, user=cast.charlie, now=NOW), ValidationError)


def api_token(cast: SimpleNamespace, eve: User, _pair: list[Node]) -> Use:
    address, header = f"/api/v1/campaigns/{make.campaign(cast).pk}/", people.bearer(eve)

    def use() -> str:
        answer = Client().patch(address, {"goal": "x"}, content_type="application/json", **header)
        return "" if answer.status_code == 200 else str(answer.json()["detail"])

    return use


def schedule(cast: SimpleNamespace, eve: User, _pair: list[Node]) -> Use:
    report = reports.begin_management_report(
        team=cast.team, user=cast.oscar, language="en", title="x", selection=Selection().as_json()
    )
    values = {
        "name": "x",
        "report": report,
        "series": None,
        "language": "en",
        "cron": "0 7 * * *",
        "formats": [],
        "cron_timezone": "UTC",
    }
    schedules.save_schedule(schedule=Schedule(team=cast.team), user=eve, now=NOW, recipients=[], **values)
    due = NOW + timedelta(days=1)

    def use() -> str:
        schedules.start_due(now=due)
        delivery = Delivery.objects.get()
        deliveries.carry_on(delivery_id=delivery.pk, now=due)
        delivery.refresh_from_db()
        return messages.render(delivery.note) if delivery.state == Delivery.State.FAILED else ""

    return use


def private_date(cast: SimpleNamespace, eve: User, pair: list[Node]) -> Use:
    draft = make.campaign(SimpleNamespace(team=cast.team, oscar=eve), start_at=NOW + timedelta(days=1))
    make.experiment(draft, *pair)
    campaigns.share_campaign(campaign=draft, user=eve, visibility="private")
    campaigns.launch_campaign(campaign=draft, user=eve, now=NOW)

    def use() -> str:
        campaigns.launch_due(now=NOW + timedelta(days=1))
        draft.refresh_from_db()
        is_paused = draft.state == Campaign.State.PAUSED
        return messages.render(draft.events.order_by("-pk")[0].message) if is_paused else ""

    return use


# What was opened with which right, by the field that names who opened it.
ASKS: dict[str, tuple[Role, Callable[[SimpleNamespace, User, list[Node]], Use]]] = {
    "accounts.Invitation.invited_by": (Role.MANAGER, invitation),
    "agents.EnrolmentToken.created_by": (Role.MANAGER, enrolment),
    "campaigns.Share.offered_by": (Role.OPERATOR, offer),
    "accounts.ApiToken.user": (Role.OPERATOR, api_token),
    "reports.Schedule.saved_by": (Role.OPERATOR, schedule),
    "campaigns.Campaign.created_by": (Role.OPERATOR, private_date),
}

SAYS_WHO = "It says who did what was done at once: nothing is used later by their right."
OF_TEAM = "It is the team's from the start, and shown to it; whoever uses it later is asked for their own right."
REASONS = {
    "accounts.Membership.user": "It is the right itself.",
    "testbeds.SettingGrant.granted_by": "It is in force at once as the leave of the node's team, shown on the node's"
    " page to all its managers, who withdraw it; runs would break off whenever a manager leaves.",
    "testbeds.SettingGrant.revoked_by": SAYS_WHO,
    "testbeds.NodeAddress.confirmed_by": "It is in force at once as the team's word for its own node, shown on the"
    " node's page to all its managers, who take the address away; runs would break off whenever a manager leaves.",
    "archive.RetentionRule.changed_by": "It is in force at once as the team's rule, shown on its page.",
    "archive.IncomingArchive.created_by": "It is stored only once somebody agrees, who is asked for their right.",
    "archive.Import.created_by": "It is stored only once somebody says so, who is asked for their right then.",
    "archive.ColumnMapping.created_by": OF_TEAM,
    "archive.SavedSearch.created_by": "It is a question; whoever opens it finds what they may see themselves.",
    "comparison.SavedView.created_by": "It is a question; whoever opens it finds what they may see themselves.",
    "campaigns.Share.decided_by": "What a team accepted is the team's, which lets go of it; the offer says by whom.",
    "campaigns.Tombstone.created_by": SAYS_WHO,
    "campaigns.Tombstone.deleted_by": SAYS_WHO,
    "campaigns.Note.created_by": "Who wrote it changes it only as an operator that they are then.",
    "campaigns.Trial.invalid_by": SAYS_WHO,
    "comparison.ChangePoint.decided_by": SAYS_WHO,
    "reports.Report.created_by": OF_TEAM,
    "reports.Edition.created_by": OF_TEAM,
    "reports.Rendering.requested_by": "A draft holds what whoever asked for it sees when it is made; whoever fetches"
    " a file is asked for their own right.",
    "toolbox.ToolVersion.created_by": OF_TEAM,
    "toolbox.ToolEvent.user": SAYS_WHO,
    "tuning.Verification.requested_by": SAYS_WHO,
    "tuning.Decision.user": SAYS_WHO,
}


def fields_that_name_people() -> set[str]:
    """Return all fields of the service's own models that lead to a person, as "app.Model.field"."""
    return {
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        if model.__module__.startswith("apps.")
        for field in model._meta.fields
        if field.is_relation and field.related_model is User
    }


def test_each_row_that_names_a_person_asks_or_has_a_reason() -> None:
    assert sorted(fields_that_name_people()) == sorted([*ASKS, *REASONS])


LOWER = {Role.MANAGER: Role.OPERATOR, Role.OPERATOR: Role.VIEWER}


def removed(cast: SimpleNamespace, own: Membership, _role: Role) -> None:
    accounts.remove_member(membership=own, user=cast.alice)


def demoted(cast: SimpleNamespace, own: Membership, role: Role) -> None:
    accounts.change_role(membership=own, user=cast.alice, role=LOWER[role])


def closed(_cast: SimpleNamespace, own: Membership, _role: Role) -> None:
    User.objects.filter(pk=own.user_id).update(is_active=False)


def deleted(_cast: SimpleNamespace, own: Membership, _role: Role) -> None:
    own.user.delete()


# Of whom nobody made nothing is private: all of the team see that campaign, and stop it.
TEAMS_AGAIN = ("campaigns.Campaign.created_by", deleted)
CASES = [
    pytest.param(name, loses, id=f"{name}-{loses.__name__}")
    for name in ASKS
    for loses in (removed, demoted, closed, deleted)
    if (name, loses) != TEAMS_AGAIN
]


def opened(name: str, cast: SimpleNamespace, pair: list[Node]) -> tuple[Membership, Use]:
    own = Membership.objects.create(team=cast.team, user=people.user("eve"), role=Role.MANAGER)
    return own, ASKS[name][1](cast, own.user, pair)


@pytest.mark.parametrize("name", ASKS)
def test_it_is_good_while_whoever_opened_it_may(name: str, cast: SimpleNamespace, pair: list[Node]) -> None:
    own, use = opened(name, cast, pair)
    accounts.change_role(membership=own, user=cast.alice, role=ASKS[name][0])
    assert use() == ""


@pytest.mark.parametrize(("name", "loses"), CASES)
def test_it_ends_with_the_right_by_which_it_was_opened(
    name: str, loses: Callable[..., None], cast: SimpleNamespace, pair: list[Node]
) -> None:
    own, use = opened(name, cast, pair)
    loses(cast, own, ASKS[name][0])
    assert use() != ""


def test_an_offer_is_good_again_once_somebody_who_may_offers_the_campaign(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    own, use = opened("campaigns.Share.offered_by", cast, pair)
    removed(cast, own, Role.OPERATOR)
    campaign = Campaign.objects.get()
    campaigns.share_campaign(campaign=campaign, user=cast.alice, visibility="shared", shared_with=["strangers"])
    assert use() == ""
