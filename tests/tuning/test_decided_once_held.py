"""What a person may of a finding is asked once its row is held: who held it before may have taken their right away.

Two transactions in order: one holds the finding and takes the right, the other has found it before and waits.
"""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from apps.accounts import services as accounts
from apps.accounts.models import Role, User
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign
from apps.tuning.models import Decision, Finding, Verification
from apps.tuning.services import decide_finding, verify_finding
from tests import factories
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW
from tests.campaigns.test_seen_once_held import answer_after
from tests.tuning import carrying

State = Finding.State
Act = Callable[[Finding, User], object]

ACTS: dict[str, Act] = {
    "accept": lambda finding, user: decide_finding(finding=finding, user=user, state=State.ACCEPTED),
    "dismiss": lambda finding, user: decide_finding(finding=finding, user=user, state=State.DISMISSED, reason="x"),
    "open again": lambda finding, user: decide_finding(finding=finding, user=user, state=State.NEW),
    "verify": lambda finding, user: verify_finding(finding=finding, user=user, now=NOW),
}


@pytest.fixture
def cast(transactional_db: None) -> SimpleNamespace:
    """Return the named cast and Olga, another operator, in a database that other connections see."""
    return factories.cast_with_olga()


@pytest.fixture
def finding(cast: SimpleNamespace) -> Finding:
    pair = make.nodes(cast.team, "kisti01", "pnu01")
    # One that can be verified: what never could is refused before anything is held.
    return carrying.store(make.campaign(cast), pair, carrying.draft())


def hidden(cast: SimpleNamespace, campaign: Campaign) -> None:
    campaigns.share_campaign(campaign=campaign, user=cast.oscar, visibility="private")


def removed(cast: SimpleNamespace, _campaign: Campaign) -> None:
    accounts.remove_member(membership=cast.own, user=cast.alice)


def demoted(cast: SimpleNamespace, _campaign: Campaign) -> None:
    accounts.change_role(membership=cast.own, user=cast.alice, role=Role.VIEWER)


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize(("loses", "refusal"), [(hidden, Http404), (removed, Http404), (demoted, PermissionDenied)])
def test_who_may_not_any_more_once_the_finding_is_held_is_refused(
    name: str, loses: Callable[..., None], refusal: type[Exception], cast: SimpleNamespace, finding: Finding
) -> None:
    def first() -> None:
        Finding.objects.select_for_update().get(pk=finding.pk)
        loses(cast, finding.campaign)

    def act(campaign: Campaign, user: User) -> object:
        return ACTS[name](Finding.objects.select_related("campaign__team", "team").get(campaign=campaign), user)

    given = answer_after(first, finding.campaign, act, cast.olga)
    assert isinstance(given, refusal), given
    assert not Decision.objects.exists()
    assert not Verification.objects.exists()
    assert Finding.objects.get().state == State.NEW
