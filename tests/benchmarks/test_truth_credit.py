"""Worlds of disks with credit: what they gave alone they did not give to the file system, or give no more."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks.truth.judging.base import FALSE, TRUE, UNDECIDED
from benchmarks.truth.worlds.base import Cell, Setup, Trial
from benchmarks.truth.worlds.credit import LEAST, TRAIT, with_credit
from benchmarks.truth.worlds.draw import world_of
from benchmarks.truth.worlds.files import DISKS_ALONE
from benchmarks.truth.worlds.storage import READ, WRITE, StorageWorld
from tests.benchmarks.oracle import finding, outcome, storage

LIMIT = "%(name)s (%(way)s) itself is the limit: %(rate)s fills neither the network nor the disks."
IF_STILL = (
    "%(name)s (%(way)s) itself is the limit, if what lies beneath gave as much meanwhile as when it was measured"
)
SHARE = "%(name)s reaches %(share)s %% of what %(below)s beneath it gave alone at another time (%(metric)s)"
CACHE = "%(rate)s of %(name)s is more than the layers beneath gave alone: of a cache, or they gave more meanwhile"
CACHE_ALONE = "%(rate)s of %(name)s is not believable: the layers beneath give less"


def worlds(count: int = 200) -> Iterator[StorageWorld]:
    for seed in range(count):
        world = world_of(seed, "storage")
        assert isinstance(world, StorageWorld)
        if TRAIT in world.traits:
            yield world


def alone(world: StorageWorld) -> Setup:
    return next(setup for setup in world.setups if setup.name == DISKS_ALONE)


def test_some_worlds_have_disks_with_credit_measured_before_after_and_again() -> None:
    all_worlds = [*worlds()]
    assert 8 < len(all_worlds) < 60
    assert not any(world.is_clean for world in all_worlds)
    places = {world.setups.index(alone(world)) == 0 for world in all_worlds}
    assert places == {True, False}
    assert any(setup.name == f"{DISKS_ALONE} again" for world in all_worlds for setup in world.setups)


def test_what_disks_gave_alone_differs_from_what_they_gave_to_the_file_system() -> None:
    for world in worlds():
        (cell,) = alone(world).cells
        ratio = cell.truth[WRITE] / world.disk[WRITE]
        assert max(ratio, 1 / ratio) > 1 + (LEAST - 1) / 2 / len(cell.trials)
        rates = [trial.figures[WRITE] for trial in cell.trials]
        assert min(rates) / 2 < cell.truth[WRITE] < 2 * max(rates)


def with_disks(*rates: float) -> StorageWorld:
    """Return a world whose two servers' disks give 100 MB/s each to the file system, and these (MB/s) alone."""
    mean = 1e6 * len(rates) / sum(1 / rate for rate in rates)
    trials = tuple(Trial({WRITE: rate * 1e6, READ: rate * 2e6}) for rate in rates)
    disks = Setup(DISKS_ALONE, "iozone", {"client": ("s1",)}, [Cell({}, {WRITE: mean, READ: 2 * mean}, trials)])
    own = Cell({"clients": 4}, {WRITE: 200e6, READ: 400e6}, (Trial({WRITE: 200e6, READ: 400e6}),))
    world = storage(setups=(Setup("Clients", "iozone", {"client": ("c1",)}, [own], (), "shared"), disks), share=0.7)
    return replace(world, traits=(TRAIT,))


@pytest.mark.parametrize(
    ("rule", "title", "fields", "verdict"),
    [
        ("limiting-layer", LIMIT, {"value": 140e6}, TRUE),
        ("limiting-layer", IF_STILL, {"value": 140e6}, UNDECIDED),
        ("cache-effect", CACHE, {}, TRUE),
        ("cache-effect", CACHE_ALONE, {}, FALSE),
        ("storage-share-of-disk", SHARE, {"value": 0.28}, TRUE),
        ("storage-share-of-disk", SHARE, {"value": 0.7}, FALSE),
    ],
)
def test_a_statement_on_layers_of_another_time_is_judged_by_that(
    rule: str, title: str, fields: dict[str, float], verdict: str
) -> None:
    params = {"metric": "write"}
    assert outcome(with_disks(250, 250, 250), finding(rule, title, params=params, **fields)) == verdict


def test_a_world_without_disks_alone_has_no_credit() -> None:
    for seed in range(20):
        world = storage(seed=seed)
        assert with_credit(world, DISKS_ALONE) is world
