"""Disks that give more than they can keep up until their credit is used up, and when they were measured alone."""

import dataclasses
import random
from collections.abc import Sequence

from benchmarks.truth.worlds.base import Cell, Setup
from benchmarks.truth.worlds.storage import StorageWorld

TRAIT = "credit"
# How many worlds in which disks were measured alone have disks with credit, and how many times more that gives.
SHARE, LEAST, MOST = 0.25, 1.6, 5.0
# Their credit ends before the file system is measured, in it or at its end; after it; or they are measured once more.
BEFORE, AFTER, AGAIN = "before", "after", "again"


def with_credit(world: StorageWorld, name: str) -> StorageWorld:
    """Return one world in four in which credit told apart when disks were measured alone (the experiment of a name).

    `world.disk` stays what they gave to the file system. What is drawn for it leaves all other worlds as they are.
    """
    source = random.Random(f"{world.seed} credit")  # noqa: S311 - a simulation, not a secret
    disks = next((setup for setup in world.setups if setup.name == name and not setup.days), None)
    if source.random() >= SHARE or disks is None:
        return world
    kind, times = source.choice((BEFORE, BEFORE, AFTER, AGAIN)), source.uniform(LEAST, MOST)
    count = len(disks.cells[0].trials)
    others = [setup for setup in world.setups if setup is not disks]
    full, spent = [times] * count, [1.0] * count
    if kind == BEFORE:
        last = source.randint(1, count)
        setups = [_given(disks, [*full[:last], *spent[last:]]), *others]
    elif kind == AFTER:
        last = source.randint(0, count - 1)
        setups = [*others, _given(disks, [*spent[:last], *[1 / times] * (count - last)])]
    else:
        setups = [_given(disks, full), *others, dataclasses.replace(disks, name=f"{name} again")]
    return dataclasses.replace(world, setups=tuple(setups), traits=(*world.traits, TRAIT))


def _given(disks: Setup, factors: Sequence[float]) -> Setup:
    """Return an experiment whose trials gave these times what the disks keep up, in the order of their turns."""
    return dataclasses.replace(disks, cells=tuple(_cell(cell, factors) for cell in disks.cells))


def _cell(cell: Cell, factors: Sequence[float]) -> Cell:
    trials = tuple(
        dataclasses.replace(trial, figures={metric: factor * value for metric, value in trial.figures.items()})
        for trial, factor in zip(cell.trials, factors, strict=True)
    )
    # Rates of equal work: the harmonic mean.
    mean = len(factors) / sum(1 / factor for factor in factors)
    return dataclasses.replace(
        cell, trials=trials, truth={metric: mean * value for metric, value in cell.truth.items()}
    )
