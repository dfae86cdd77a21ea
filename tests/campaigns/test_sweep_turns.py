"""A sweep is worked out before its campaign is held, in a turn: what others change meanwhile is not undone unseen."""

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from apps.accounts.models import User
from apps.bench import sweep
from apps.campaigns import definitions, errors, services, turns
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.services import launches
from apps.testbeds.models import Node
from tests.campaigns import browsing
from tests.campaigns import factories as make
from tests.campaigns.factories import NOW

# What works a sweep out, and who does so for callers that have the turn (or are a worker, which has its own).
WORKS = {"expand_experiment", "expand_stage", "expand_checked", "expand_stage_checked", "expand_campaign"}
WORKS |= {"check_experiment"}
FOR_OTHERS = {
    "checks.py": {"expand_checked", "expand_stage_checked"},
    "stages.py": {"expand_stage", "start_stage"},
    "experiments.py": {"check_experiment", "clean", "_preview"},
    "trials.py": {"_expand", "expand_campaign"},
    "compositions.py": {"add"},
    "launches.py": {"_launch_one"},
}
APPS = Path(__file__).parents[2] / "apps"


def calls_without_turn(node: ast.AST, function: str = "", *, has_turn: bool = False) -> Iterator[tuple[str, str]]:
    """Yield (function, what it calls) of what works a sweep out outside of `with sweep_turn(...)`."""
    if isinstance(node, ast.FunctionDef):
        function = node.name
    if isinstance(node, ast.With):
        has_turn = has_turn or any("sweep_turn" in ast.unparse(item) for item in node.items)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        is_composed = ast.unparse(node.func) == "composition.add" and not function.startswith(
            ("_add", "_composition")
        )
        if (name in WORKS or is_composed) and not has_turn:
            yield function, name
    for child in ast.iter_child_nodes(node):
        yield from calls_without_turn(child, function, has_turn=has_turn)


def test_whoever_works_a_sweep_out_has_a_turn() -> None:
    wrong = [
        f"{path.relative_to(APPS)}: {function} calls {name}"
        for path in sorted(APPS.rglob("*.py"))
        for function, name in calls_without_turn(ast.parse(path.read_text(encoding="utf-8")))
        if function not in FOR_OTHERS.get(path.name, set())
    ]
    assert wrong == []


def test_a_call_without_a_turn_is_met() -> None:
    text = "def view():\n    with sweep_turn(user):\n        check_experiment(x)\n    services.check_experiment(x)\n"
    assert list(calls_without_turn(ast.parse(text))) == [("view", "check_experiment")]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """Return what has something done the first `times` that a sweep is worked out, and counts how often it is."""

    def begin(act: Callable[[], object], times: int = 1) -> list[int]:
        expand, count = sweep.expand_points, [0]

        def expanded(*args: Any) -> Any:
            count[0] += 1
            if count[0] <= times:
                act()
            return expand(*args)

        monkeypatch.setattr(sweep, "expand_points", expanded)
        return count

    return begin


@pytest.fixture
def drafted(cast: SimpleNamespace, pair: list[Node]) -> Experiment:
    return make.experiment(make.campaign(cast), *pair)


def test_what_another_changed_meanwhile_is_kept(
    cast: SimpleNamespace, drafted: Experiment, meanwhile: Callable[..., list[int]]
) -> None:
    count = meanwhile(lambda: Experiment.objects.filter(pk=drafted.pk).update(warmups=7))
    services.update_experiment(experiment=drafted, user=cast.oscar, repetitions=9)
    drafted.refresh_from_db()
    assert (drafted.repetitions, drafted.warmups, count) == (9, 7, [2])


def test_a_change_that_is_overtaken_each_time_is_given_up(
    cast: SimpleNamespace, drafted: Experiment, meanwhile: Callable[..., list[int]]
) -> None:
    seeds = iter(range(100, 200))
    meanwhile(lambda: Experiment.objects.filter(pk=drafted.pk).update(seed=next(seeds)), times=99)
    with pytest.raises(errors.WrongState, match="Others are changing"):
        services.update_experiment(experiment=drafted, user=cast.oscar, repetitions=9)
    drafted.refresh_from_db()
    assert drafted.repetitions != 9


def test_a_draft_that_is_launched_meanwhile_is_not_changed(
    cast: SimpleNamespace, pair: list[Node], drafted: Experiment, meanwhile: Callable[..., list[int]]
) -> None:
    rows = Campaign.objects.filter(pk=drafted.campaign_id)
    meanwhile(lambda: rows.update(state="running"), times=99)
    roles = [services.Player("client", pair[0]), services.Player("server", pair[1])]
    values = {"name": "more", "tool": "iperf3-tcp", "roles": roles}
    with pytest.raises(errors.WrongState, match="Only a draft"):
        services.create_experiment(campaign=drafted.campaign, user=cast.oscar, **values)
    rows.update(state="draft")
    with pytest.raises(errors.WrongState, match="Only a draft"):
        services.update_experiment(experiment=drafted, user=cast.oscar, repetitions=9)
    assert rows.get().experiments.count() == 1


def test_a_launch_starts_what_the_campaign_is_once_it_is_held(
    cast: SimpleNamespace, drafted: Experiment, meanwhile: Callable[..., list[int]]
) -> None:
    before = drafted.repetitions
    meanwhile(lambda: Experiment.objects.filter(pk=drafted.pk).update(repetitions=before + 1))
    campaign = services.launch_campaign(campaign=drafted.campaign, user=cast.oscar, now=NOW)
    trials = campaign.trials.filter(is_warmup=False)
    assert trials.count() == (before + 1) * trials.values("point").distinct().count()


def test_a_launch_is_of_what_was_agreed_to_though_it_waited_for_its_turn(
    cast: SimpleNamespace, drafted: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = drafted.campaign
    Campaign.objects.filter(pk=campaign.pk).update(start_at=NOW + timedelta(days=200))
    campaign.refresh_from_db()
    digest = definitions.digest_of(definitions.parts_of(campaign, services.expand_campaign(campaign)))

    @contextmanager
    def turn_after_a_change(user: User) -> Iterator[None]:
        Campaign.objects.filter(pk=campaign.pk).update(start_at=None)
        with turns.sweep_turn(user):
            yield

    monkeypatch.setattr(launches, "sweep_turn", turn_after_a_change)
    with pytest.raises(errors.NotAsConfirmed):
        services.launch_campaign(campaign=campaign, user=cast.oscar, now=NOW, digest=digest)
    assert not campaign.trials.exists()


def test_a_launch_that_is_overtaken_each_time_is_given_up(
    cast: SimpleNamespace, drafted: Experiment, meanwhile: Callable[..., list[int]]
) -> None:
    seeds = iter(range(100, 200))
    meanwhile(lambda: Experiment.objects.filter(pk=drafted.pk).update(seed=next(seeds)), times=99)
    with pytest.raises(errors.WrongState, match="Others are changing"):
        services.launch_campaign(campaign=drafted.campaign, user=cast.oscar, now=NOW)
    assert not drafted.campaign.trials.exists()


def test_a_circle_that_closes_meanwhile_is_refused(
    cast: SimpleNamespace, pair: list[Node], drafted: Experiment, meanwhile: Callable[..., list[int]]
) -> None:
    other = make.experiment(drafted.campaign, *pair, name="other")
    meanwhile(lambda: Experiment.objects.filter(pk=other.pk).update(after=drafted))
    with pytest.raises(errors.Refused, match="wait for each other"):
        services.update_experiment(experiment=drafted, user=cast.oscar, after=other)


def test_a_condition_is_looked_at_again_once_the_row_is_held(
    cast: SimpleNamespace, drafted: Experiment, meanwhile: Callable[..., list[int]]
) -> None:
    api, path = browsing.Api(cast.oscar), f"/experiments/{drafted.pk}/"
    tag = api("get", path).headers["ETag"]
    meanwhile(lambda: Experiment.objects.filter(pk=drafted.pk).update(warmups=7))
    answer = api.client.patch(
        browsing.API + path, {"repetitions": 9}, content_type="application/json", HTTP_IF_MATCH=tag
    )
    assert answer.status_code == 412
    drafted.refresh_from_db()
    assert (drafted.warmups, drafted.repetitions != 9) == (7, True)


def test_a_page_says_what_another_saved_meanwhile(
    cast: SimpleNamespace, pair: list[Node], drafted: Experiment, meanwhile: Callable[..., list[int]]
) -> None:
    client, place = browsing.browser(cast.oscar), browsing.address("experiment_update", drafted.pk)
    [version] = re.findall(r'name="as_shown" value="([^"]+)"', client.get(place).content.decode())
    meanwhile(lambda: Experiment.objects.filter(pk=drafted.pk).update(warmups=7))
    answer = client.post(place, browsing.form(pair, as_shown=version))
    assert answer.status_code == 409
    drafted.refresh_from_db()
    assert drafted.warmups == 7
