"""Experiments that wait for one that decides by itself what it measures, and are such themselves."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from apps.campaigns import queries, services
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.core import messages
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.workers.test_adaptation import STREAMS, WINDOW, carry_out, end
from workers import stages

RATES = [100e6, 110e6, 90e6, *[100e6] * 50]


def staged(cast: SimpleNamespace, pair: list[Node], first: dict[str, Any], **later: Any) -> Campaign:
    """Return a running campaign of an adaptive experiment and one that waits for it."""
    draft = make.campaign(cast)
    earlier = make.experiment(draft, *pair, name="First", **first)
    window = [{"name": "window", "expression": "=max(First.goodput) * 1 ms / 8 * {1, 2}"}]
    make.experiment(
        draft, *pair, **{"name": "Second", "factors": window, "repetitions": 1, "after": earlier, **later}
    )
    return services.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)


def open_stages() -> int:
    return stages.open_stages(now=timezone.now())


def values(name: str) -> set[int]:
    return set(Trial.objects.filter(experiment__name="Second").values_list(f"parameters__{name}", flat=True))


def test_it_waits_for_the_repetitions_that_are_added(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = staged(cast, pair, {**WINDOW, "precision": 0.03, "most_repetitions": 50})
    for rate in RATES:
        (run,) = make.take(now=timezone.now())
        end(run, rate)
        if not Trial.objects.filter(campaign=campaign, state="pending").exists():
            break
        assert not queries.due_stages()
        assert not open_stages()
    assert campaign.trials.count() > 3
    assert open_stages() == 1
    assert values("window") == {110_000 // 8, 110_000 // 4}


def test_it_waits_for_the_values_that_a_search_adds_and_takes_the_best_of_them(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    first = {**STREAMS, "search_factor": "streams", "search_budget": 6, "search_goal": "maximum"}
    campaign = staged(cast, pair, first)
    best = 0.0

    def rate(trial: Trial) -> float:
        nonlocal best
        assert not open_stages()
        value = 8e8 - 1e6 * (trial.parameters["streams"] - 30) ** 2
        best = max(best, value)
        return value

    carry_out(campaign, rate)
    assert Trial.objects.filter(experiment__name="First").count() > 4
    assert open_stages() == 1
    assert max(values("window")) == round(best * 1e-3 / 8 * 2)


def test_points_that_all_failed_at_the_cap_refuse_it(
    cast: SimpleNamespace, pair: list[Node], django_capture_on_commit_callbacks: Any
) -> None:
    campaign = staged(cast, pair, {**WINDOW, "precision": 0.03, "most_repetitions": 4})
    carry_out(campaign, lambda trial: None)
    with django_capture_on_commit_callbacks(execute=True):
        assert open_stages() == 1
    later = Experiment.objects.get(name="Second")
    assert "gave no goodput" in messages.render(later.refusal)
    campaign.refresh_from_db()
    assert campaign.state == "finished"


def test_a_search_begins_with_values_that_were_computed(
    cast: SimpleNamespace, pair: list[Node], django_capture_on_commit_callbacks: Any
) -> None:
    streams = [{"name": "streams", "expression": "=400 Mbit/s / mean(First.goodput) * {0.5, 4, 16}"}]
    search = {"factors": streams, "search_factor": "streams", "search_budget": 3, "precision": 0.05}
    campaign = staged(cast, pair, {**WINDOW, "precision": 0.03}, **search)
    carry_out(campaign, lambda trial: 100e6)
    assert open_stages() == 1
    assert values("streams") == {2, 16, 64}
    with django_capture_on_commit_callbacks(execute=True):
        carry_out(campaign, lambda trial: min(8.2e6 * trial.parameters["streams"], 200e6))
    assert 3 < len(values("streams")) <= 6
    assert all(16 < value < 64 for value in values("streams") - {2, 16, 64})
    campaign.refresh_from_db()
    assert campaign.state == "finished"


@pytest.mark.parametrize("formula", ["=400 Mbit/s / mean(First.goodput) * {0.5, 4}", "=mean(First.goodput)"])
def test_a_formula_of_too_few_values_to_search_from_is_refused(
    cast: SimpleNamespace, pair: list[Node], formula: str
) -> None:
    streams = [{"name": "streams", "expression": formula}]
    with pytest.raises(ValidationError) as refused:
        staged(cast, pair, WINDOW, factors=streams, search_factor="streams")
    assert "at least 3 values" in " ".join(refused.value.message_dict["search_factor"])


def test_only_what_is_valid_and_no_warm_up_counts(cast: SimpleNamespace, pair: list[Node]) -> None:
    bad = {"name": "low-overlap", "severity": "invalid", "message": {"msgid": "x", "params": {}}}
    campaign = staged(cast, pair, {**WINDOW, "repetitions": 2, "warmups": 1})
    for rate, flags in ((900e6, ()), (80e6, ()), (700e6, [bad])):
        (run,) = make.take(now=timezone.now())
        end(run, rate, flags=flags)
    assert campaign.trials.filter(is_warmup=True, state="succeeded").count() == 1
    assert open_stages() == 1
    assert values("window") == {10_000, 20_000}
