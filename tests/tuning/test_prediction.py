"""The page that predicts a setting that was not measured, and says how sure that is."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign, Experiment
from apps.results.models import Result, Sample
from apps.testbeds.models import Node
from tests import rewriting
from tests.campaigns import factories as make
from tests.results.factories import measure_all


@pytest.fixture
def experiment(swept: Campaign) -> Experiment:
    return swept.experiments.get(tool="iperf3-tcp")


def ask(client: Client, experiment: Experiment, **texts: str) -> object:
    return client.get(reverse("tuning:predict", args=[experiment.pk]), texts)


def test_a_window_between_two_that_were_measured(
    client: Client, cast: SimpleNamespace, experiment: Experiment
) -> None:
    client.force_login(cast.bob)
    assert 'name="window"' in ask(client, experiment).content.decode()
    answer = ask(client, experiment, window="192 KiB").context["answer"]
    # Between 279 and 533 Mbit/s of 128 and 256 KiB, by the law of the window.
    assert answer.prediction.value == pytest.approx(410e6, rel=0.1)
    assert answer.prediction.low < answer.prediction.value < answer.prediction.high
    assert answer.beyond == ()
    assert answer.measured is None
    assert len(answer.trials) == 18


def test_what_was_measured_stands_beside(client: Client, cast: SimpleNamespace, experiment: Experiment) -> None:
    client.force_login(cast.bob)
    answer = ask(client, experiment, window="256 KiB").context["answer"]
    assert answer.measured == pytest.approx(533e6, rel=0.01)


def test_beyond_the_measured_range_it_says_so(client: Client, cast: SimpleNamespace, experiment: Experiment) -> None:
    client.force_login(cast.bob)
    answer = ask(client, experiment, window="16 KiB")
    assert answer.context["answer"].beyond
    assert "Beyond what was measured" in answer.content.decode()


@pytest.mark.parametrize(
    ("window", "said"),
    [("much", "much"), ("0", "The automatic window was not measured"), ("-1 KiB", "-1")],
)
def test_what_cannot_be_predicted_is_told(
    client: Client, cast: SimpleNamespace, experiment: Experiment, window: str, said: str
) -> None:
    client.force_login(cast.bob)
    answer = ask(client, experiment, window=window)
    assert answer.status_code == 422
    assert said in answer.content.decode()


def test_of_one_setting_there_is_nothing_to_predict(client: Client, cast: SimpleNamespace, swept: Campaign) -> None:
    client.force_login(cast.bob)
    ping = swept.experiments.get(tool="ping")
    assert "There is nothing to predict from" in ask(client, ping).content.decode()


def test_a_sweep_without_results_says_what_is_lacking(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    draft = make.campaign(cast)
    make.experiment(draft, *pair, factors=[{"name": "streams", "expression": "1, 2, 4"}])
    campaign = make.services.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    client.force_login(cast.bob)
    answer = ask(client, campaign.experiments.get(), streams="3")
    assert answer.status_code == 422


@pytest.mark.parametrize("texts", [{"lane": "0"}, {"lane": "x"}, {"metric": "none"}])
def test_what_is_not_there_is_not_found(
    client: Client, cast: SimpleNamespace, experiment: Experiment, texts: dict[str, str]
) -> None:
    client.force_login(cast.bob)
    assert ask(client, experiment, **texts).status_code == 404


def test_strangers_and_other_teams_see_nothing(client: Client, cast: SimpleNamespace, experiment: Experiment) -> None:
    assert ask(client, experiment).status_code == 302
    client.force_login(cast.charlie)
    assert ask(client, experiment).status_code == 404


def test_it_takes_few_queries(
    client: Client, cast: SimpleNamespace, experiment: Experiment, django_assert_max_num_queries: object
) -> None:
    client.force_login(cast.bob)
    with django_assert_max_num_queries(32):
        ask(client, experiment, window="192 KiB")


def test_a_run_that_was_disturbed_is_left_out_where_others_of_its_setting_did_better(
    client: Client, cast: SimpleNamespace, experiment: Experiment
) -> None:
    client.force_login(cast.bob)
    undisturbed = ask(client, experiment, window="192 KiB").context["answer"]
    slow = experiment.trials.get(parameters__window=262144, repetition=1)
    rewriting.update(Sample.objects.filter(trial=slow, metric="goodput"), value=2e8)
    message = {"msgid": "x", "params": {}}
    flag = {"name": "not-steady", "severity": "warning", "message": message, "metrics": ["goodput"]}
    rewriting.update(Result.objects.filter(trial=slow), flags=[flag])
    answer = ask(client, experiment, window="192 KiB").context["answer"]
    assert slow.pk in undisturbed.trials
    assert slow.pk not in answer.trials
    assert answer.prediction.value == pytest.approx(undisturbed.prediction.value, rel=0.01)


@pytest.mark.parametrize("name", ["held-by-limit", "cached-read", "cached-write", "cached-by-server"])
def test_a_run_that_a_limit_of_its_own_or_a_cache_decided_is_left_out_whatever_it_reached(
    client: Client, cast: SimpleNamespace, experiment: Experiment, name: str
) -> None:
    client.force_login(cast.bob)
    limited = experiment.trials.get(parameters__window=262144, repetition=1)
    assert limited.pk in ask(client, experiment, window="192 KiB").context["answer"].trials
    flag = {"name": name, "severity": "warning", "message": {"msgid": "x", "params": {}}}
    rewriting.update(Result.objects.filter(trial=limited), flags=[flag])
    assert limited.pk not in ask(client, experiment, window="192 KiB").context["answer"].trials


@pytest.mark.parametrize(("measured", "is_known"), [(0.9e9, True), (3.8e9, False)])
def test_links_that_carried_more_than_is_said_of_them_are_no_ceiling(
    client: Client, cast: SimpleNamespace, pair: list[Node], measured: float, is_known: bool
) -> None:
    """What came through the link of 1 Gbit/s the other way, in another experiment of the campaign, tells of it."""
    draft = make.campaign(cast)
    make.experiment(draft, *pair, factors=[{"name": "streams", "expression": "1, 2, 4"}], repetitions=2)
    loads = {"fixed": {"rate": "900 Mbit/s", "direction": "reverse"}, "factors": []}
    make.experiment(draft, *pair, name="loads", tool="iperf3-udp", **loads)
    campaign = make.services.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    trials = list(campaign.trials.select_related("experiment"))
    rates = {trial.pk: 200e6 * trial.parameters.get("streams", 1) for trial in trials}
    rates |= {trial.pk: measured for trial in trials if trial.experiment.tool == "iperf3-udp"}
    measure_all((trial, {"goodput": rates[trial.pk]}) for trial in trials)
    client.force_login(cast.bob)
    answer = ask(client, campaign.experiments.get(tool="iperf3-tcp"), streams="8").context["answer"]
    assert (answer.prediction.high < 1e9) == is_known
    assert (answer.prediction.value == pytest.approx(8 * 200e6, rel=0.02)) != is_known


def test_the_figures_of_a_setting_say_how_sure_one_beside_it_can_be(
    client: Client, cast: SimpleNamespace, experiment: Experiment
) -> None:
    client.force_login(cast.bob)
    plain = ask(client, experiment, window="1536 KiB").context["answer"].prediction
    outlier = experiment.trials.get(parameters__window=2097152, repetition=1)
    rewriting.update(Sample.objects.filter(trial=outlier, metric="goodput"), value=4.9e8)
    answer = ask(client, experiment, window="1536 KiB").context["answer"].prediction
    assert plain.low > 8e8
    assert answer.low <= 4.9e8 * 1.01


def test_a_setting_of_which_no_run_stayed_the_same_is_left_out(
    client: Client, cast: SimpleNamespace, experiment: Experiment
) -> None:
    client.force_login(cast.bob)
    undisturbed = ask(client, experiment, window="192 KiB").context["answer"]
    slow = list(experiment.trials.filter(parameters__window=262144))
    rewriting.update(Sample.objects.filter(trial__in=slow, metric="goodput"), value=1e8)
    flag = {"name": "not-steady", "severity": "warning", "message": {"msgid": "x", "params": {}}}
    rewriting.update(Result.objects.filter(trial__in=slow), flags=[flag])
    answer = ask(client, experiment, window="192 KiB").context["answer"]
    assert {trial.pk for trial in slow} & {*undisturbed.trials}
    assert not {trial.pk for trial in slow} & {*answer.trials}
    assert answer.prediction.value == pytest.approx(undisturbed.prediction.value, rel=0.1)
