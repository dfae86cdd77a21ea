"""Experiments that decide by themselves: repetitions until a mean is known, values near a knee."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from apps.campaigns import services
from apps.campaigns.models import Campaign, Event, Experiment, Run, Trial
from apps.core import messages
from apps.results.models import Result, Sample
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from workers import adaptation

WINDOW = {"factors": [{"name": "window", "expression": "64KiB"}], "repetitions": 3}
STREAMS = {"factors": [{"name": "streams", "expression": "1, 4, 16, 64"}], "repetitions": 1}


def carry_out(campaign: Campaign, rate: Callable[[Trial], float | None], *, flags: Any = ()) -> int:
    """Carry out what is pending until nothing is, with a rate (bit/s) for each trial, None for a failure."""
    done = 0
    while Trial.objects.filter(campaign=campaign, state="pending").exists():
        done += 1
        assert done < 200
        (run,) = make.take(now=timezone.now())
        end(run, rate(run.trial), flags=flags)
    return done


@transaction.atomic
def end(run: Run, value: float | None, *, flags: Any = ()) -> None:
    """End a run with a rate (bit/s), None for a failure, and decide what comes next."""
    if value is None:
        Trial.objects.filter(pk=run.trial_id).update(state="failed")
        run.state = "failed"
        run.reservations.all().delete()
        run.save()
    else:
        result = Result.objects.create(
            run=run, trial=run.trial, experiment=run.trial.experiment, tool="iperf3-tcp", flags=list(flags)
        )
        Sample.objects.create(
            result=result, trial=run.trial, experiment=run.trial.experiment, metric="goodput", value=value
        )
        services.succeed_run(run=run, now=timezone.now())
    adaptation.adapt(trial=run.trial, now=timezone.now())


def test_a_point_is_repeated_until_it_is_known_well_enough(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair, **WINDOW, precision=0.03, most_repetitions=50)
    values = iter([100e6, 110e6, 90e6, *[100e6] * 50])
    done = carry_out(campaign, lambda trial: next(values))
    assert 6 <= done < 20
    repetitions = list(Trial.objects.filter(campaign=campaign).values_list("repetition", flat=True))
    assert sorted(repetitions) == list(range(1, done + 1))
    assert not Event.objects.filter(message__msgid__icontains="converge").exists()


def test_values_that_agree_need_no_more(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair, **WINDOW, precision=0.03)
    assert carry_out(campaign, lambda trial: 100e6 + trial.repetition) == 3


def test_a_point_that_does_not_converge_says_so_at_the_cap(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair, **WINDOW, precision=0.03, most_repetitions=10)
    assert carry_out(campaign, lambda trial: 100e6 if trial.repetition % 2 else 50e6) == 10
    event = Event.objects.get(message__msgid__icontains="did not converge")
    assert event.level == "warning"
    assert event.message["params"]["count"] == 10


def test_invalid_results_and_failures_do_not_count_but_end_at_the_cap(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    campaign = make.launched(cast, *pair, **WINDOW, precision=0.03, most_repetitions=7)
    bad = {"name": "low-overlap", "severity": "invalid", "message": {"msgid": "x", "params": {}}}
    assert carry_out(campaign, lambda trial: None if trial.repetition == 2 else 100e6, flags=[bad]) == 7


def test_each_pair_of_nodes_is_repeated_for_itself(cast: SimpleNamespace, pair: list[Node]) -> None:
    (third,) = make.nodes(cast.team, "third")
    campaign = make.launched(cast, [pair[0], third], pair[1], **WINDOW, precision=0.03, most_repetitions=6)
    steady = pair[0].pk
    noise = iter([100e6, 300e6, 200e6, 50e6, 400e6, 100e6])
    carry_out(campaign, lambda trial: 100e6 if steady in trial.lane.roles["client"] else next(noise))
    counts = {lane.roles["client"][0]: lane.trials.count() for lane in campaign.experiments.get().lanes.all()}
    assert counts == {steady: 3, third.pk: 6}


def test_without_precision_nothing_is_added(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair, **WINDOW)
    assert carry_out(campaign, lambda trial: 1e6 * trial.repetition**2) == 3


def test_a_search_closes_in_on_the_knee(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair, **STREAMS, search_factor="streams", search_budget=6)
    carry_out(campaign, lambda trial: min(8.2e6 * trial.parameters["streams"], 410e6))
    streams = sorted(Trial.objects.filter(campaign=campaign).values_list("parameters__streams", flat=True))
    added = [value for value in streams if value not in (1, 4, 16, 64)]
    assert all(16 < value <= 64 for value in added)
    assert 2 <= len(added) <= 6
    above, below = min(v for v in streams if v >= 50), max(v for v in streams if v <= 50)
    assert above / below <= 1.15
    points = Trial.objects.filter(campaign=campaign).values_list("point", flat=True)
    assert sorted(points) == list(range(len(streams)))


def test_a_search_ends_with_its_budget(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair, **STREAMS, search_factor="streams", search_budget=1)
    assert carry_out(campaign, lambda trial: min(8.2e6 * trial.parameters["streams"], 410e6)) == 5


def test_each_combination_of_the_other_factors_is_searched_by_itself(cast: SimpleNamespace, pair: list[Node]) -> None:
    factors = [*STREAMS["factors"], {"name": "window", "expression": "64KiB, 256KiB"}]
    campaign = make.launched(cast, *pair, factors=factors, repetitions=1, search_factor="streams", search_budget=5)
    carry_out(campaign, lambda trial: min(trial.parameters["streams"] * trial.parameters["window"] * 100, 2e8))
    added = Trial.objects.filter(campaign=campaign).exclude(parameters__streams__in=[1, 4, 16, 64])
    small = added.filter(parameters__window=65536).values_list("parameters__streams", flat=True)
    large = added.filter(parameters__window=262144).values_list("parameters__streams", flat=True)
    assert all(16 < value < 64 for value in small)
    assert all(4 < value < 16 for value in large)
    assert small
    assert large


def test_added_points_are_repeated_as_precisely(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(
        cast, *pair, **STREAMS, precision=0.05, search_factor="streams", search_goal="maximum", search_budget=2
    )
    carry_out(campaign, lambda trial: 1e8 / (1 + math.log(trial.parameters["streams"] / 10) ** 2))
    for value in set(Trial.objects.filter(campaign=campaign).values_list("parameters__streams", flat=True)):
        assert Trial.objects.filter(campaign=campaign, parameters__streams=value).count() == 3


def test_the_campaign_ends_only_when_nothing_was_added(
    cast: SimpleNamespace, pair: list[Node], django_capture_on_commit_callbacks: Any
) -> None:
    campaign = make.launched(cast, *pair, **WINDOW, precision=0.03, most_repetitions=9)
    with django_capture_on_commit_callbacks(execute=True):
        carry_out(campaign, lambda trial: 100e6 * (1 + trial.repetition % 2))
    campaign.refresh_from_db()
    assert campaign.state == "finished"
    assert campaign.trials.count() == 9


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"search_factor": "window"}, "no factor"),
        ({"search_factor": "streams", "factors": [{"name": "streams", "expression": "1, 4"}]}, "at least 3"),
        (
            {"search_factor": "direction", "factors": [{"name": "direction", "expression": "forward, reverse"}]},
            "not a number",
        ),
        (
            {
                "search_factor": "streams",
                "factors": [*STREAMS["factors"], {"name": "window", "expression": "1KiB, 2KiB, 4KiB, 8KiB"}],
                "zips": [["streams", "window"]],
            },
            "zipped",
        ),
    ],
)
def test_a_factor_that_cannot_be_searched_is_refused(
    cast: SimpleNamespace, pair: list[Node], values: dict[str, Any], words: str
) -> None:
    draft = make.campaign(cast)
    with pytest.raises(ValidationError) as caught:
        make.experiment(draft, *pair, **{**STREAMS, **values})
    assert words in str(caught.value.message_dict["search_factor"])
    assert not Experiment.objects.exists()


@pytest.mark.parametrize("values", [{"precision": 0.9}, {"most_repetitions": 2}, {"search_budget": 0}])
def test_limits_of_the_fields_are_kept(cast: SimpleNamespace, pair: list[Node], values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        make.experiment(make.campaign(cast), *pair, **{**STREAMS, **values})
    assert next(iter(values)) in caught.value.message_dict


def test_a_trial_ends_although_what_comes_next_cannot_be_decided(
    cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*_asked: object, **_named: object) -> None:
        raise OverflowError("math range error")

    campaign = make.launched(cast, *pair, **WINDOW, precision=0.03, most_repetitions=50)
    monkeypatch.setattr(adaptation, "_repeat", stumble)
    assert carry_out(campaign, lambda trial: 100e6) == 3
    assert set(campaign.trials.values_list("state", flat=True)) == {"succeeded"}
    told = [messages.render(event.message) for event in campaign.events.filter(level="error")]
    assert told == [
        "What to measure next could not be decided (OverflowError: math range error): nothing is added to what was"
        " planned."
    ]
