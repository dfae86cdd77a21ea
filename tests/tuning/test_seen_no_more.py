"""Whatever changes who sees a campaign has the findings of others drawn anew that may name it."""

import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.campaigns import services
from apps.campaigns.models import Campaign
from apps.campaigns.services import deletion
from apps.tuning import evidence
from tests.campaigns import factories as make
from tests.test_architecture import ROOT
from tests.testbeds import factories as testbeds
from tests.tuning.test_one_capacity import dispersed, fast, stored
from tests.tuning.test_one_capacity import path as path
from tests.tuning.test_others_unheard import Visibility, see
from tests.tuning.test_renewed_findings import _launched, analyse, standing

pytestmark = pytest.mark.django_db
Seen = tuple[str, bool]
Act = Callable[[Campaign, SimpleNamespace, Seen], object]

TEAM, OPEN = (Visibility.TEAM, True), (Visibility.PUBLIC, False)


def share(campaign: Campaign, cast: SimpleNamespace, seen: Seen) -> None:
    services.share_campaign(campaign=campaign, user=cast.oscar, visibility=seen[0], redacted=seen[1])


def share_series(campaign: Campaign, cast: SimpleNamespace, seen: Seen) -> None:
    """Share the series of which the campaign is a date."""
    series = Campaign.objects.create(team=campaign.team, created_by=cast.oscar, name="s", state="draft")
    Campaign.objects.filter(pk=campaign.pk).update(series=series)
    share(see(series, campaign.visibility, redacted=campaign.redacted), cast, seen)


def delete(campaign: Campaign, cast: SimpleNamespace, _seen: Seen) -> None:
    services.delete_campaign(campaign=campaign, user=cast.oscar, now=timezone.now())


@pytest.mark.parametrize("act", [share, share_series, delete])
@pytest.mark.parametrize(
    ("before", "after"),
    [(TEAM, (Visibility.PRIVATE, True)), (OPEN, (Visibility.PUBLIC, True)), (OPEN, TEAM)],
)
def test_what_fewer_may_see_is_told_no_more(
    path: SimpleNamespace,
    cast: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    act: Act,
    before: Seen,
    after: Seen,
) -> None:
    # One that a worker deletes goes later, and is unheard at once.
    monkeypatch.setattr(deletion, "AT_ONCE", 0)
    faster = see(fast(path), before[0], redacted=before[1])
    Campaign.objects.filter(pk=faster.pk).update(created_by=cast.oscar)
    # A public campaign hears of open ones alone.
    (campaign,) = _launched(see(dispersed(path), before[0]))
    assert analyse(campaign)
    assert faster.name in _told(campaign)
    act(faster, cast, after)
    assert standing(campaign).is_outdated
    assert analyse(campaign)
    assert faster.name not in _told(campaign)


def test_findings_on_files_rest_on_the_network_beneath(path: SimpleNamespace) -> None:
    servers = make.cluster(path.team, "servers", path.b)
    files = testbeds.file_system(path.team, "scratch", server_cluster=servers)
    campaign = stored(path, "fio", path.a, path.a, {"bandwidth": 1e8})
    campaign.experiments.update(file_system=files)
    assert evidence.hearing_of(fast(path)) == {campaign.pk}


def test_who_sees_a_campaign_is_changed_at_one_place() -> None:
    """Whoever changes it elsewhere has no findings drawn anew; a campaign that is being made names no other yet."""
    written = re.compile(r"update\([^)]*\bvisibility=|(?<!copy)\.visibility\b[^=\n]*(?<![=!])= ")
    sources = [file for file in (ROOT / "apps").rglob("*.py") if "migrations" not in file.parts]
    places = {file.name for file in sources if written.search(file.read_text(encoding="utf-8"))}
    assert places == {"sharing.py", "campaigns.py"}


def _told(campaign: Campaign) -> str:
    return str([finding.details for finding in campaign.findings.all()])
