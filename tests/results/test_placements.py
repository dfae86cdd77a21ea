"""A trial's page says where ranks were to run and where they ran, and shows first what measured."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.agents.models import Job
from apps.campaigns.models import Campaign, Run
from apps.results import attempts, placements
from apps.results.models import Result, Series
from tests import rewriting


def words(asked: object, got: object) -> list[tuple[str, str, str]]:
    found = placements.placement_of(Result(requested={"map": asked}, observed={"map": got}))
    return [(place.rank, place.asked, place.got) for place in found.places] if found else []


def test_each_rank_has_the_place_asked_for_and_the_one_it_got() -> None:
    asked = [{"rank": 0, "node": "kisti-1", "core": "0:0"}, {"rank": 1, "node": "pusan-1"}, {"rank": 2, "node": "x"}]
    got = [
        {"rank": 0, "host": "kisti-1", "cores": ["0:0", "0:1"]},
        {"rank": 1, "host": "pusan-1", "cores": []},
        {"rank": 3, "host": "kisti-2", "cpus": [4, 5]},
    ]
    assert words(asked, got) == [
        ("0", "kisti-1, core 0:0", "kisti-1, core 0:0 0:1"),
        ("1", "pusan-1", "pusan-1, not bound"),
        ("2", "x", ""),
        ("3", "", "kisti-2, processor 4 5"),
    ]


def test_pairs_that_were_started_by_themselves_are_told_apart() -> None:
    pair = [{"rank": 0, "node": "a"}, {"rank": 1, "node": "b"}]
    assert [row[:2] for row in words([pair, pair], [])] == [("1/0", "a"), ("1/1", "b"), ("2/0", "a"), ("2/1", "b")]


@pytest.mark.parametrize("kept", [None, [], "x", [5], [[], []]])
def test_without_a_map_there_is_nothing_to_show(kept: object) -> None:
    assert words(kept, None) == []


def test_the_ranks_of_a_large_job_are_counted_where_they_are_not_shown() -> None:
    asked = [{"rank": rank, "node": "a"} for rank in range(1024)]
    found = placements.placement_of(Result(requested={"map": asked}, observed={}))
    assert found
    assert (len(found.places), found.others) == (128, 896)


def test_the_trials_page_shows_the_places(client: Client, measured: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    result = Result.objects.first()
    address = reverse("results:trial", args=[result.trial_id])
    assert "Placement got" not in client.get(address).content.decode()
    kept = [{"rank": 7, "host": "kgfs02", "cores": ["1:3"]}]
    rewriting.update(Result.objects.filter(pk=result.pk), observed={**result.observed, "map": kept})
    assert "kgfs02, core 1:3" in client.get(address).content.decode()


def test_figures_by_size_are_not_called_figures_over_time(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    result = Result.objects.first()
    address = reverse("results:trial", args=[result.trial_id])
    assert "Over time" in client.get(address).content.decode()
    rewriting.delete(result.series.all())
    Series.objects.create(result=result, metric="time", stream="by size", unit="s", times=[1.0], values=[1e-6])
    page = client.get(address).content.decode()
    assert "By size" in page
    assert "Over time" not in page


def test_what_measured_is_shown_before_what_only_looked_and_a_sender_before_a_receiver() -> None:
    stages = [
        ("forecast", [(["srun", "--test-only"], False)]),
        ("measure", [(["iperf3", "-s"], False), (["iperf3", "-c"], True), (["iperf3", "-c", "-R"], True)]),
    ]
    plan = {
        "stages": [
            {"name": name, "commands": [{"argv": argv, "measures": measures} for argv, measures in commands]}
            for name, commands in stages
        ]
    }

    def command(stage: int, argv: list[str], *, sends: bool = False) -> attempts.ShownCommand:
        watched: Any = SimpleNamespace(is_sender=sends)
        return attempts.ShownCommand(Job(stage=stage, argv=argv), True, " ".join(argv), [], watched)

    commands = [
        command(0, ["srun", "--test-only"]),
        command(1, ["iperf3", "-s"], sends=True),
        command(1, ["iperf3", "-c", "-R"]),
        command(1, ["iperf3", "-c"], sends=True),
    ]
    attempt = attempts.Attempt(Run(plan=plan), commands, None, [], frozenset(), [], None, None)
    shown = [item.line for item in attempt.watched]
    assert shown == ["iperf3 -c", "iperf3 -c -R", "iperf3 -s", "srun --test-only"]
