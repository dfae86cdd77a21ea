"""Dates of a series while the last one carried out has not ended: skipped, unless they are to queue up."""

from datetime import timedelta
from types import SimpleNamespace

from django.test import Client

from apps.campaigns import services
from apps.campaigns.models import Campaign, Event
from apps.core import messages
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW

HOUR = timedelta(hours=1)


def log(campaign: Campaign) -> list[str]:
    return [messages.render(event.message) for event in campaign.events.order_by("id")]


def scheduled(cast: SimpleNamespace, pair: list[Node], **values: str) -> Campaign:
    draft = make.campaign(cast, **values)
    make.experiment(draft, *pair)
    return services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)


def test_a_date_is_skipped_while_the_last_one_has_not_ended(cast: SimpleNamespace, pair: list[Node]) -> None:
    series = scheduled(cast, pair, cron="0 * * * *", cron_timezone="Asia/Seoul")
    (first,) = services.launch_due(now=NOW + HOUR)
    # A night without the agent: nothing of the first one can be measured.
    for hours in range(2, 9):
        assert services.launch_due(now=NOW + hours * HOUR) == []
    series.refresh_from_db()
    assert (series.state, series.skipped_dates, series.occurrences.count()) == ("scheduled", 7, 1)
    assert series.next_at == NOW + 9 * HOUR
    lines = log(series)
    assert sum(f"was skipped: “{first.name}” has not ended." in line for line in lines) == 7
    assert f"The date {NOW + 11 * HOUR:%Y-%m-%d %H:%M} Asia/Seoul was skipped" in lines[2]
    assert Event.objects.filter(campaign=series, level="warning").count() == 7
    Campaign.objects.filter(pk=first.pk).update(state="finished")
    assert len(services.launch_due(now=NOW + 9 * HOUR)) == 1
    assert series.occurrences.count() == 2


def test_a_skipped_date_says_that_the_last_one_is_paused(cast: SimpleNamespace, pair: list[Node]) -> None:
    series = scheduled(cast, pair, cron="0 * * * *")
    (first,) = services.launch_due(now=NOW + HOUR)
    services.pause_campaign(campaign=first, user=cast.oscar)
    assert services.launch_due(now=NOW + 2 * HOUR) == []
    assert log(series)[-1].endswith("has not ended, it is paused.")


def test_the_dates_of_a_series_queue_up_where_that_is_wanted(cast: SimpleNamespace, pair: list[Node]) -> None:
    series = scheduled(cast, pair, cron="0 * * * *", overlap="queue")
    for hours in (1, 2, 3):
        assert len(services.launch_due(now=NOW + hours * HOUR)) == 1
    series.refresh_from_db()
    assert (series.occurrences.count(), series.skipped_dates) == (3, 0)


def test_what_becomes_of_overlapping_dates_can_be_changed_while_they_go_on(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    series = scheduled(cast, pair, cron="0 * * * *")
    services.launch_due(now=NOW + HOUR)
    services.update_campaign(campaign=series, user=cast.oscar, now=NOW, overlap="queue")
    assert len(services.launch_due(now=NOW + 2 * HOUR)) == 1
    series.refresh_from_db()
    clone = services.clone_campaign(campaign=series, user=cast.oscar)
    assert (clone.overlap, clone.skipped_dates) == ("queue", 0)


def test_a_skipped_date_is_on_the_page_and_in_rest(cast: SimpleNamespace, pair: list[Node], client: Client) -> None:
    series = scheduled(cast, pair, cron="0 * * * *")
    for hours in (1, 2):
        services.launch_due(now=NOW + hours * HOUR)
    client.force_login(cast.oscar)
    page = client.get(f"/campaigns/{series.pk}/").content.decode()
    assert "1 date was skipped" in page
    assert "was skipped: “" in page
    answer = client.get(f"/api/v1/campaigns/{series.pk}/").json()
    assert (answer["overlap"], answer["skipped_dates"]) == ("skip", 1)
    lines = client.get(f"/api/v1/campaigns/{series.pk}/events/").json()["results"]
    assert any("was skipped" in line["text"] for line in lines)
    assert (
        client.patch(f"/api/v1/campaigns/{series.pk}/", {"overlap": "queue"}, content_type="application/json").json()[
            "overlap"
        ]
        == "queue"
    )
    refused = client.patch(f"/api/v1/campaigns/{series.pk}/", {"overlap": "pile"}, content_type="application/json")
    assert refused.status_code == 400
