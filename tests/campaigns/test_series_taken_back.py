"""What is taken back of a series is taken back of its dates."""

from types import SimpleNamespace

import pytest

from apps.campaigns import queries, services
from apps.campaigns.models import Campaign
from tests.campaigns import factories as make

V = Campaign.Visibility


@pytest.fixture
def dates(cast: SimpleNamespace) -> SimpleNamespace:
    """Return a series that another team accepted, with a date as it is and one that only its team sees."""
    series = make.campaign(cast)
    make.share(series, cast.other_team)
    Campaign.objects.filter(pk=series.pk).update(cron="0 3 * * *")
    series.refresh_from_db()
    made = [
        services.copies.copy_campaign(campaign=series, name=name, created_by=cast.oscar, series=series)
        for name in ("Date", "Apart")
    ]
    made[1].shares.all().delete()
    Campaign.objects.filter(pk=made[1].pk).update(visibility=V.TEAM)
    return SimpleNamespace(series=series, date=made[0], apart=made[1])


def seen(campaign: Campaign, user: object) -> bool:
    campaign.refresh_from_db()
    return queries.sees_whole(campaign, user)


@pytest.mark.parametrize("visibility", [V.PRIVATE, V.TEAM])
def test_dates_follow_when_a_series_is_shown_to_fewer(
    cast: SimpleNamespace, dates: SimpleNamespace, visibility: str
) -> None:
    assert seen(dates.date, cast.charlie) and not seen(dates.apart, cast.charlie)
    services.share_campaign(campaign=dates.series, user=cast.oscar, visibility=visibility)
    assert not seen(dates.date, cast.charlie)
    assert seen(dates.date, cast.bob) == (visibility == V.TEAM)
    assert seen(dates.apart, cast.bob) and not seen(dates.apart, cast.charlie)


def test_a_team_that_is_named_no_more_sees_no_date(cast: SimpleNamespace, dates: SimpleNamespace) -> None:
    services.share_campaign(campaign=dates.series, user=cast.oscar, visibility=V.SHARED, shared_with=["else"])
    assert not seen(dates.date, cast.charlie) and seen(dates.date, cast.bob)


def test_what_is_public_no_more_is_no_more_of_any_date(cast: SimpleNamespace, dates: SimpleNamespace) -> None:
    dates.series.shares.all().delete()
    dates.date.shares.all().delete()
    Campaign.objects.exclude(pk=dates.apart.pk).update(visibility=V.PUBLIC, redacted=False)
    dates.series.refresh_from_db()
    assert seen(dates.date, cast.charlie)
    services.share_campaign(campaign=dates.series, user=cast.oscar, visibility=V.PUBLIC, redacted=True)
    assert not seen(dates.date, cast.charlie) and seen(dates.date, cast.bob)
    assert dates.date.visibility == V.PUBLIC
    services.share_campaign(campaign=dates.series, user=cast.oscar, visibility=V.TEAM)
    dates.date.refresh_from_db()
    assert dates.date.visibility == V.TEAM


def test_whom_a_series_is_shown_to_besides_sees_no_date_before(cast: SimpleNamespace, dates: SimpleNamespace) -> None:
    services.share_campaign(campaign=dates.series, user=cast.oscar, visibility=V.PUBLIC, redacted=False)
    for date, visibility in ((dates.date, V.SHARED), (dates.apart, V.TEAM)):
        date.refresh_from_db()
        assert date.visibility == visibility
