"""Experiments that wait for others, and take values from what those measured."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from apps.bench.text import Message
from apps.campaigns import queries, services
from apps.campaigns.models import Campaign, Experiment, Lane, Trial
from apps.core import messages
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.campaigns.browsing import Api, address, browser, experiment_body, form
from tests.campaigns.factories import NOW, take
from tests.pages import flat

FORMULA = "=bdp(max(Bottleneck.goodput), 4.8 ms) * {0.5, 1, 2}"


def staged(cast: SimpleNamespace, pair: list[Node], formula: str = FORMULA, **values: Any) -> Campaign:
    """Return a draft: a bottleneck measured by UDP, then windows that depend on it."""
    draft = make.campaign(cast)
    udp = {"tool": "iperf3-udp", "fixed": {"duration": "2 s", "rate": "900M"}, "factors": [], "repetitions": 2}
    first = make.experiment(draft, *pair, name="Bottleneck", **udp)
    factors = [{"name": "window", "expression": formula}]
    make.experiment(draft, *pair, name="Windows", **{"factors": factors, "after": first, **values})
    return draft


def launch(cast: SimpleNamespace, draft: Campaign) -> Campaign:
    return services.launch_campaign(campaign=draft, user=cast.oscar, now=NOW)


def measure(*figures: float) -> Any:
    """Return what gives these figures of the only lane of the first experiment."""
    return measure_each(lambda lane: figures)


def measure_each(figures: Callable[[Lane], Sequence[float]]) -> Any:
    def measured(experiment: Experiment, metric: str) -> dict[int, Sequence[float]]:
        assert (experiment.name, metric) == ("Bottleneck", "goodput")
        return {lane.pk: figures(lane) for lane in experiment.lanes.all()}

    return measured


def end_first(success: bool = True) -> None:
    """Have every trial that can run end."""
    while runs := take():
        for run in runs:
            if success:
                services.succeed_run(run=run, now=NOW)
            else:
                services.fail_run(run=run, reason=Message("broken"), code="broken", retryable=False, now=NOW)


def open_stages(measured: Any) -> list[bool]:
    due = list(queries.due_stages().values_list("pk", flat=True))
    return [services.start_stage(experiment_id=pk, measured=measured, now=NOW) for pk in due]


def windows(campaign: Campaign) -> list[int]:
    trials = Trial.objects.filter(campaign=campaign, experiment__name="Windows")
    return sorted({trial.parameters["window"] for trial in trials})


def test_only_the_first_stage_has_trials_at_the_launch(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = launch(cast, staged(cast, pair))
    assert set(Trial.objects.values_list("experiment__name", flat=True)) == {"Bottleneck"}
    lines = [messages.render(event.message) for event in campaign.events.all()]
    assert "Windows waits for Bottleneck." in lines
    assert "Launched by oscar; trials: 2." in lines
    assert not queries.due_stages()


def test_the_next_begins_when_the_first_has_ended(
    cast: SimpleNamespace, pair: list[Node], django_capture_on_commit_callbacks: Any
) -> None:
    campaign = launch(cast, staged(cast, pair))
    with django_capture_on_commit_callbacks(execute=True):
        end_first()
    campaign.refresh_from_db()
    assert campaign.state == "running"
    assert open_stages(measure(9.0e8, 9.5e8)) == [True]
    # 950 Mbit/s x 4.8 ms / 8 = 570,000 B.
    assert windows(campaign) == [285_000, 570_000, 1_140_000]
    later = campaign.experiments.get(name="Windows")
    assert later.resolved == {"window": "285000, 570000, 1140000"}
    assert later.stage == "started"
    with django_capture_on_commit_callbacks(execute=True):
        end_first()
    campaign.refresh_from_db()
    assert campaign.state == "finished"


def test_it_begins_once(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = launch(cast, staged(cast, pair))
    end_first()
    later = campaign.experiments.get(name="Windows").pk
    assert services.start_stage(experiment_id=later, measured=measure(9e8), now=NOW)
    assert not services.start_stage(experiment_id=later, measured=measure(9e8), now=NOW)
    assert Trial.objects.filter(experiment=later).count() == 6


def test_nothing_begins_while_the_campaign_is_paused(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = launch(cast, staged(cast, pair))
    end_first()
    services.pause_campaign(campaign=campaign, user=cast.oscar)
    assert not queries.due_stages()
    services.resume_campaign(campaign=campaign, user=cast.oscar, now=NOW)
    assert queries.due_stages()


def test_what_was_not_measured_keeps_the_next_from_starting(
    cast: SimpleNamespace, pair: list[Node], django_capture_on_commit_callbacks: Any
) -> None:
    campaign = launch(cast, staged(cast, pair))
    with django_capture_on_commit_callbacks(execute=True):
        end_first(success=False)
        open_stages(measure())
    campaign.refresh_from_db()
    later = campaign.experiments.get(name="Windows")
    assert later.stage == "refused"
    assert "gave no goodput" in messages.render(later.refusal)
    assert campaign.state == "finished"
    page = browser(cast.oscar).get(address("campaign_detail", campaign.pk)).content.decode()
    assert "gave no goodput" in page


def test_running_again_what_failed_gives_the_next_its_chance(
    cast: SimpleNamespace, pair: list[Node], django_capture_on_commit_callbacks: Any
) -> None:
    campaign = launch(cast, staged(cast, pair))
    with django_capture_on_commit_callbacks(execute=True):
        end_first(success=False)
        open_stages(measure())
    services.rerun_failed(campaign=campaign, user=cast.oscar)
    assert campaign.experiments.get(name="Windows").stage == "waiting"
    end_first()
    open_stages(measure(9e8))
    assert len(windows(campaign)) == 3


def test_a_value_out_of_the_tool_s_range_is_refused_when_it_is_known(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = launch(cast, staged(cast, pair))
    end_first()
    open_stages(measure(9e15))
    assert "too large" in messages.render(campaign.experiments.get(name="Windows").refusal).lower()


def test_a_rate_above_what_the_link_allows_is_refused_when_it_is_known(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    draft = staged(cast, pair, tool="iperf3-udp", fixed={"duration": "2 s"}, factors=[
        {"name": "rate", "expression": "=max(Bottleneck.goodput) * {0.5, 2}"}
    ])  # fmt: skip
    campaign = launch(cast, draft)
    end_first()
    open_stages(measure(9e8))
    assert "whose owner allows" in messages.render(campaign.experiments.get(name="Windows").refusal)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("=max(Elsewhere.goodput)", "no experiment that this one waits for"),
        ("=max(Windows.goodput)", "no experiment that this one waits for"),
        ("=max(Bottleneck.beauty)", "measures no"),
        ("=max(", "ends too early"),
    ],
)
def test_a_formula_is_checked_in_the_draft(cast: SimpleNamespace, pair: list[Node], formula: str, words: str) -> None:
    with pytest.raises(ValidationError) as refused:
        staged(cast, pair, formula)
    assert words in " ".join(refused.value.message_dict["factors.window"])


def test_a_formula_for_a_text_or_a_fixed_list_is_refused(cast: SimpleNamespace, pair: list[Node]) -> None:
    with pytest.raises(ValidationError, match="no number"):
        staged(cast, pair, factors=[{"name": "congestion", "expression": "=1"}])
    with pytest.raises(ValidationError, match="make it a factor"):
        staged(cast, pair, factors=[], fixed={"window": "={1, 2}"})
    with pytest.raises(ValidationError, match="vary together"):
        both = [{"name": "window", "expression": "={1, 2}"}, {"name": "streams", "expression": "1, 2"}]
        staged(cast, pair, factors=both, zips=[["window", "streams"]])


def test_a_draft_s_preview_counts_the_values_to_come(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = staged(cast, pair, exclusions=["window > 1MiB"])
    page = browser(cast.oscar).get(address("confirm_launch", draft.pk)).content.decode()
    assert "8 (4 points)" in flat(page)
    assert "Formulas are computed" in page


def test_experiments_do_not_wait_in_a_circle_nor_for_another_campaign_s(
    cast: SimpleNamespace, pair: list[Node]
) -> None:
    draft = staged(cast, pair)
    first, second = draft.experiments.all()
    with pytest.raises(ValidationError, match="wait for each other"):
        services.update_experiment(experiment=first, user=cast.oscar, after=second)
    with pytest.raises(ValidationError, match="wait for each other"):
        services.update_experiment(experiment=Experiment.objects.get(pk=first.pk), user=cast.oscar, after=first)
    with pytest.raises(ValidationError, match="same campaign"):
        make.experiment(make.campaign(cast), *pair, after=first)


def test_what_others_wait_for_is_not_deleted(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft = staged(cast, pair)
    first, second = draft.experiments.all()
    with pytest.raises(ValidationError, match="Windows waits"):
        services.delete_experiment(experiment=first, user=cast.oscar)
    services.delete_experiment(experiment=second, user=cast.oscar)
    services.delete_experiment(experiment=first, user=cast.oscar)


def test_a_clone_waits_within_itself(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = launch(cast, staged(cast, pair))
    end_first()
    open_stages(measure(9e8))
    copy = services.clone_campaign(campaign=campaign, user=cast.oscar)
    first, second = copy.experiments.all()
    assert second.after == first
    assert (second.resolved, second.expanded_at, second.refusal) == ({}, None, None)
    copy.delete()


def test_the_page_says_what_waits_for_what(cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = launch(cast, staged(cast, pair))
    page = browser(cast.oscar).get(address("campaign_detail", campaign.pk)).content.decode()
    assert "waits for" in page
    assert "Bottleneck" in page
    end_first()
    open_stages(measure(9.5e8))
    page = browser(cast.oscar).get(address("campaign_detail", campaign.pk)).content.decode()
    assert "285000, 570000, 1140000" in page


def test_it_is_chosen_in_the_browser(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft, oscar = staged(cast, pair), browser(cast.oscar)
    second = draft.experiments.get(name="Windows")
    page = oscar.get(address("experiment_update", second.pk)).content.decode()
    assert f'value="{second.after_id}" selected' in page
    assert f'value="{second.pk}"' not in page
    sent = form(pair, name="Again", param_window=FORMULA, after=str(second.after_id))
    assert oscar.post(address("experiment_create", draft.pk), sent).status_code == 302
    again = Experiment.objects.get(name="Again")
    assert again.factors == [{"name": "window", "expression": FORMULA}]
    assert again.after_id == second.after_id


def test_it_is_chosen_over_rest(cast: SimpleNamespace, pair: list[Node]) -> None:
    draft, api = staged(cast, pair), Api(cast.oscar)
    first = draft.experiments.get(name="Bottleneck")
    body = experiment_body(draft.pk, pair, after=first.pk, factors=[{"name": "window", "expression": FORMULA}])
    made = api("post", "/experiments/", body).json()
    assert (made["after"], made["state"], made["resolved"]) == (first.pk, "defined", {})
    refused = api("post", "/experiments/", experiment_body(make.campaign(cast).pk, pair, after=first.pk))
    assert refused.status_code == 400
    assert "after" in refused.json()["fields"]
    assert Api(cast.charlie)("get", f"/experiments/{made['id']}/").status_code == 404
