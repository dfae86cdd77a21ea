"""Campaigns launched now, at a time, or at each date of a series."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from apps.campaigns import errors, services
from apps.campaigns.models import Campaign, Event, Lane, Trial
from apps.core import messages, queue
from apps.testbeds.models import Link, Node, NodeAddress
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW

DAY = timedelta(days=1)


def log(campaign: Campaign) -> list[str]:
    return [messages.render(event.message) for event in campaign.events.order_by("id")]


def launch(cast: SimpleNamespace, campaign: Campaign, now=NOW) -> Campaign:
    return services.launch_campaign(campaign=campaign, user=cast.oscar, now=now)


def scheduled(cast: SimpleNamespace, pair: list[Node], **values) -> Campaign:
    draft = make.campaign(cast, **values)
    make.experiment(draft, *pair)
    return launch(cast, draft)


def test_a_launch_makes_every_trial_of_every_lane(cast: SimpleNamespace, pair: list[Node]) -> None:
    servers = make.cluster(cast.team, "servers", pair[1], *make.nodes(cast.team, "pnu02"))
    campaign = make.launched(cast, pair[0], servers, repetitions=3, warmups=1)
    trials = Trial.objects.filter(campaign=campaign)
    assert (campaign.state, campaign.launched_at) == ("running", NOW)
    assert trials.count() == 2 * 2 * 4
    assert Lane.objects.count() == 2
    assert sorted(trials.values_list("position", flat=True)) == list(range(16))
    assert trials.filter(is_warmup=True).count() == 4
    assert set(trials.values_list("attempts_allowed", flat=True)) == {3}
    assert [trial.pk for trial in trials.order_by("position")] == sorted(trial.pk for trial in trials)


def test_a_trial_keeps_typed_parameters_and_an_estimate(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    trial = Trial.objects.earliest("position")
    assert trial.parameters["window"] == 65536
    assert trial.parameters["duration"] == 2.0
    assert 2 < trial.estimate_s < 4


def test_a_lane_reserves_the_nodes_and_the_link_between_them(cast: SimpleNamespace, pair: list[Node]) -> None:
    make.launched(cast, *pair)
    lane = Lane.objects.get()
    assert lane.roles == {"client": [pair[0].pk], "server": [pair[1].pk]}
    assert set(lane.resources) == {f"node:{pair[0].pk}", f"node:{pair[1].pk}", f"link:{Link.objects.get().pk}"}


def test_a_launch_says_how_much_was_launched_and_what_was_left_out(cast: SimpleNamespace, pair: list[Node]) -> None:
    both = make.cluster(cast.team, "both", *pair)
    lines = log(make.launched(cast, both, both))
    assert lines[0] == "Launched by oscar; trials: 8."
    assert lines[1].endswith("in them: 2.")


def test_a_launch_warns_of_nodes_that_can_not_measure(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    warnings = [messages.render(event.message) for event in campaign.events.filter(level="warning")]
    assert {line.split()[0] for line in warnings} == {"kisti01", "pnu01"}


def test_a_launch_asks_for_the_first_runs(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []
    monkeypatch.setattr(queue, "send", lambda task, *args: sent.append(task))
    make.launched(cast, *pair)
    assert sent == [queue.SCHEDULE]


def test_an_empty_campaign_is_not_launched(cast: SimpleNamespace) -> None:
    with pytest.raises(errors.Refused, match="add an experiment"):
        launch(cast, make.campaign(cast))


def test_only_a_draft_is_launched_and_only_by_who_may(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair)
    with pytest.raises(errors.WrongState):
        launch(cast, campaign)
    with pytest.raises(PermissionDenied):
        services.launch_campaign(campaign=campaign, user=cast.bob, now=NOW)


def test_what_was_emptied_since_it_was_written_is_refused_with_its_place(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    servers = make.cluster(cast.team, "servers", pair[1])
    draft = make.campaign(cast)
    make.experiment(draft, pair[0], servers)
    servers.nodes.clear()
    with pytest.raises(errors.Refused) as caught:
        launch(cast, draft)
    assert caught.value.message_dict.keys() == {"windows.roles.server"}
    draft.refresh_from_db()
    assert draft.state == "draft"


def test_a_later_start_waits_for_its_time(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = scheduled(cast, pair, start_at=NOW + DAY)
    assert (campaign.state, campaign.next_at) == ("scheduled", NOW + DAY)
    assert services.launch_due(now=NOW + DAY - timedelta(seconds=1)) == []
    assert services.launch_due(now=NOW + DAY) == [campaign]
    campaign.refresh_from_db()
    assert (campaign.state, campaign.next_at) == ("running", None)
    assert campaign.trials.count() == 4
    assert services.launch_due(now=NOW + DAY) == []


def test_a_start_that_has_passed_starts_at_once(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = make.campaign(cast, now=NOW - 2 * DAY, start_at=NOW - DAY)
    make.experiment(draft, *pair)
    assert launch(cast, draft).state == "running"


def test_a_scheduled_campaign_is_checked_when_it_is_scheduled(cast: SimpleNamespace) -> None:
    with pytest.raises(errors.Refused):
        launch(cast, make.campaign(cast, start_at=NOW + DAY))


def test_each_date_of_a_series_starts_an_occurrence(cast: SimpleNamespace, pair: list[Node]) -> None:
    series = scheduled(cast, pair, cron="0 3 * * *", cron_timezone="Asia/Seoul")
    first = NOW.replace(hour=18)
    assert series.next_at == first
    (occurrence,) = services.launch_due(now=first)
    series.refresh_from_db()
    assert (series.state, series.next_at, series.trials.count()) == ("scheduled", first + DAY, 0)
    assert (occurrence.series, occurrence.state, occurrence.trials.count()) == (series, "running", 4)
    assert occurrence.name == "Window sweep (2026-03-03 03:00)"
    assert occurrence.created_by == cast.oscar
    assert occurrence.cron == ""
    assert services.launch_due(now=first + timedelta(hours=1)) == []


def test_dates_missed_while_the_service_was_down_are_made_up_for_once(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    series = scheduled(cast, pair, cron="0 * * * *")
    assert len(services.launch_due(now=NOW + timedelta(hours=5, minutes=30))) == 1
    series.refresh_from_db()
    assert series.next_at == NOW + timedelta(hours=6)
    assert series.occurrences.count() == 1


def test_a_series_begins_at_its_start(cast: SimpleNamespace, pair: list[Node]) -> None:
    series = scheduled(cast, pair, cron="0 0 * * *", start_at=NOW + 7 * DAY)
    assert series.next_at == (NOW + 8 * DAY).replace(hour=0)


def test_a_date_that_can_not_be_kept_is_in_the_log_and_the_series_goes_on(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    servers = make.cluster(cast.team, "servers", pair[1])
    series = make.campaign(cast, cron="0 0 * * *")
    make.experiment(series, pair[0], servers)
    launch(cast, series)
    servers.nodes.clear()
    assert services.launch_due(now=NOW + DAY) == []
    series.refresh_from_db()
    assert (series.state, series.occurrences.count()) == ("scheduled", 0)
    assert series.next_at > NOW + DAY
    assert series.skipped_dates == 1
    assert log(series)[-1].startswith("The date 2026-03-03 00:00 UTC was skipped, for nothing could be started: ")
    assert log(series)[-1].endswith("the series starts by itself at its next date.")
    assert Event.objects.filter(level="error").count() == 1


def test_a_single_start_that_can_not_be_kept_leaves_a_draft(cast: SimpleNamespace, pair: list[Node]) -> None:
    servers = make.cluster(cast.team, "servers", pair[1])
    campaign = make.campaign(cast, start_at=NOW + DAY)
    make.experiment(campaign, pair[0], servers)
    launch(cast, campaign)
    servers.nodes.clear()
    assert services.launch_due(now=NOW + DAY) == []
    campaign.refresh_from_db()
    assert (campaign.state, campaign.next_at, campaign.trials.count()) == ("draft", None, 0)


def test_the_order_is_the_same_for_the_same_seed(cast: SimpleNamespace, pair: list[Node]) -> None:
    def order(seed: int) -> list[int]:
        factors = [{"name": "streams", "expression": "1..16"}]
        campaign = make.launched(cast, *pair, factors=factors, order="randomised", seed=seed)
        return list(campaign.trials.order_by("position").values_list("point", flat=True))

    assert order(5) == order(5)
    assert order(5) != order(6)
    assert sorted(order(5)[:16]) == list(range(16))


def test_an_address_is_not_needed_to_launch_but_to_run(cast: SimpleNamespace, pair: list[Node]) -> None:
    NodeAddress.objects.all().delete()
    assert make.launched(cast, *pair).state == "running"


def test_a_wrong_copy_is_reported_and_not_raised(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduled(cast, pair, start_at=NOW + DAY)

    def refuse(**values: object) -> None:
        raise ValidationError({"name": "wrong"})

    monkeypatch.setattr("apps.campaigns.services.trials.start_trials", refuse)
    assert services.launch_due(now=NOW + DAY) == []
