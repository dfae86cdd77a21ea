"""A verification whose campaign goes is over, and what is being verified does not go."""

from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.campaigns import services as campaigns
from apps.campaigns.errors import WrongState
from apps.campaigns.models import Campaign, Trial
from apps.testbeds.models import Node
from apps.tuning import services
from apps.tuning.models import Finding, Verification
from tests.tuning.carrying import draft, store, verify


@pytest.fixture
def finding(swept: Campaign, pair: list[Node]) -> Finding:
    """Return the finding that a larger window gives seven times the rate; the nodes have nothing else to do."""
    Trial.objects.update(state="succeeded")
    campaigns.finish_campaign(campaign_id=swept.pk, now=timezone.now())
    return store(swept, pair, draft())


def cancel(campaign: Campaign, cast: SimpleNamespace) -> None:
    """Cancel a campaign of which nothing runs, before it is judged."""
    campaigns.cancel_campaign(campaign=campaign, user=cast.oscar, now=timezone.now())


def test_a_deleted_campaign_ends_its_verification_and_does_not_stand_in_the_way(
    finding: Finding, cast: SimpleNamespace
) -> None:
    verification = verify(finding, cast.oscar)
    cancel(verification.campaign, cast)
    campaigns.delete_campaign(campaign=verification.campaign, user=cast.oscar, now=timezone.now())
    verification.refresh_from_db()
    assert (verification.verdict, verification.campaign, verification.judged_at is None) == ("undecided", None, False)
    second = verify(finding, cast.oscar)
    verification.refresh_from_db()
    assert (verification.verdict, second.verdict) == ("undecided", "open")


def test_a_campaign_of_which_a_finding_is_being_verified_is_not_deleted(
    finding: Finding, swept: Campaign, cast: SimpleNamespace
) -> None:
    verification = verify(finding, cast.oscar)
    now = timezone.now()
    Campaign.objects.filter(pk=swept.pk).update(state=Campaign.State.FINISHED, finished_at=now)
    with pytest.raises(WrongState, match=r"being verified by the campaign “Verify: .+”: wait for"):
        campaigns.delete_campaign(campaign=swept, user=cast.oscar, now=now)
    assert Verification.objects.get() == verification
    cancel(verification.campaign, cast)
    services.judge_verification(campaign=verification.campaign, now=now)
    campaigns.delete_campaign(campaign=swept, user=cast.oscar, now=now)
    assert not Campaign.objects.filter(pk=swept.pk).exists()
