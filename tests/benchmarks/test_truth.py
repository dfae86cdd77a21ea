"""A dozen simulated worlds through the real store, analysis, panels, comparisons and report sentences."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from apps.accounts.models import Team
from apps.campaigns.models import Campaign
from benchmarks import __main__ as program
from benchmarks.truth import changes, output, rounds
from benchmarks.truth.judging.base import FALSE, TRUE, UNDECIDED, no
from benchmarks.truth.tally import Tally
from benchmarks.truth.worlds import tcp
from benchmarks.truth.worlds.draw import world_of

# Of these 43 has a receiver that reads slowly, 31 a queue that stands.
SEEDS = {"network": (1, 2, 3, 4, 5, 31, 43), "storage": range(1, 4), "messages": range(1, 3)}


@pytest.fixture(scope="module")
def worlds() -> list[object]:
    return [world_of(seed, family) for family, seeds in SEEDS.items() for seed in seeds]


def test_a_slow_reader_and_a_standing_queue_are_among_the_dozen(worlds: list[Any]) -> None:
    held = [(world, world.reach({})) for world in worlds if world.family == "network"]
    assert any(reached.limit == tcp.READER for _world, reached in held)
    assert any(world.way.standing and reached.rtt_s > 1.5 * world.way.rtt_s for world, reached in held)


@pytest.mark.django_db
def test_a_dozen_worlds_are_judged_and_leave_nothing_behind(worlds: list[object]) -> None:
    tally = Tally()
    for world in worlds:
        heard = rounds.hear(world)
        assert not heard.failure
        tally.add(heard)
    total = tally.total
    assert tally.worlds == 12
    assert sum(total.values()) > 100
    # Most of what is said holds, else the simulation and the product do not speak of the same thing.
    assert total[TRUE] > 0.6 * (sum(total.values()) - total[UNDECIDED])
    assert {source for source, _rule in tally.by_rule} >= {"finding", "sentence", "contrast", "prediction"}
    assert tally.coverage
    assert not Campaign.objects.exists()
    assert not Team.objects.exists()
    text = "\n".join(output.tables(tally))
    assert "12 worlds" in text and "finding: tcp-bdp" in text and "coverage of" in text
    assert json.loads(json.dumps(tally.as_json()))["worlds"] == 12


@pytest.mark.django_db
def test_the_same_world_is_judged_alike_each_time() -> None:
    once, again = (rounds.hear(world_of(5, "network")) for _time in range(2))
    outcomes = [
        Counter((item.source, item.rule, found.outcome) for item, found in heard.said) for heard in (once, again)
    ]
    assert outcomes[0] == outcomes[1] != Counter()


@pytest.mark.django_db
def test_what_a_rule_gets_wrong_is_shown_with_its_seed_and_why() -> None:
    tally = Tally()
    heard = rounds.hear(world_of(1, "network"))
    # Whatever the rules say by now: one statement is taken for false.
    [(statement, _judgement), *_others] = heard.said
    tally.add(replace(heard, said=((statement, no("the truth is another")),)))
    assert tally.total[FALSE] == 1
    name, found = next(iter(tally.wrong.items()))
    lines = list(output.places(tally, name.partition(": ")[2], 1))
    assert f"{found[0].family} {found[0].seed} {found[0].outcome}" in lines[1]
    assert found[0].why in lines[1]


@pytest.mark.django_db
def test_changes_of_level_are_counted_as_a_history_shows_them() -> None:
    team = Team.objects.create(name="Histories", slug="histories")
    counts = {count.name: count for count in changes.count_changes(team, 3, 1)}
    assert counts["power, normal, 3 sigma, n = 20"].of == 3
    assert 0 <= counts["false alarms, autocorrelated, n = 300"].percent <= 100


def test_progress_says_how_fast_and_how_long() -> None:
    tally = Tally()
    tally.worlds = 50
    assert output.progress(tally, 200, 25.0) == "50 of 200 worlds, 2.00 a second, 75 s left"


def test_the_verb_stands_beside_the_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)
    assert "truth" not in program.GROUPS
    assert program.truth.main(["--help"]) == 0
