"""Whoever reads a campaign of another team hears of no other campaign of it that they may not see."""

from types import SimpleNamespace

import pytest

from apps.campaigns.models import Campaign
from apps.tuning import evidence
from tests.tuning.test_one_capacity import dispersed, fast
from tests.tuning.test_one_capacity import path as path
from tests.tuning.test_renewed_findings import _launched, analyse, standing

Visibility = Campaign.Visibility
pytestmark = pytest.mark.django_db


def see(campaign: Campaign, visibility: str, *, redacted: bool = False) -> Campaign:
    Campaign.objects.filter(pk=campaign.pk).update(visibility=visibility, redacted=redacted)
    campaign.refresh_from_db()
    return campaign


def heard(campaign: Campaign) -> str:
    """Return the campaign of which the evidence of a path hears, "" for none."""
    (own,) = evidence.by_ends(campaign).values()
    return own.elsewhere.campaign if own.elsewhere else ""


@pytest.mark.parametrize(
    ("own", "other", "redacted", "is_heard"),
    [
        (Visibility.TEAM, Visibility.TEAM, False, True),
        (Visibility.PRIVATE, Visibility.TEAM, False, True),
        (Visibility.TEAM, Visibility.PRIVATE, False, False),
        (Visibility.SHARED, Visibility.TEAM, False, False),
        (Visibility.SHARED, Visibility.SHARED, False, False),
        (Visibility.PUBLIC, Visibility.TEAM, False, False),
        (Visibility.PUBLIC, Visibility.SHARED, False, False),
        (Visibility.PUBLIC, Visibility.PUBLIC, True, False),
        (Visibility.PUBLIC, Visibility.PUBLIC, False, True),
        (Visibility.SHARED, Visibility.PUBLIC, False, True),
    ],
)
def test_what_others_may_read_rests_on_what_everybody_sees(
    path: SimpleNamespace, own: str, other: str, redacted: bool, is_heard: bool
) -> None:
    campaign, faster = see(dispersed(path), own), see(fast(path), other, redacted=redacted)
    assert heard(campaign) == (faster.name if is_heard else "")


def test_a_campaign_that_is_opened_has_its_findings_drawn_anew(path: SimpleNamespace) -> None:
    faster = fast(path)
    (campaign,) = _launched(dispersed(path))
    assert analyse(campaign)
    assert faster.name in str([finding.details for finding in campaign.findings.all()])
    see(campaign, Visibility.PUBLIC)
    assert standing(campaign).is_outdated
    assert analyse(campaign)
    assert not standing(campaign).is_outdated
    assert faster.name not in str([finding.details for finding in campaign.findings.all()])
    see(campaign, Visibility.TEAM)
    assert standing(campaign).is_outdated
