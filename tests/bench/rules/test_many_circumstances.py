"""A difference is told where it holds with all circumstances that were looked at, not with its own alone."""

import itertools
import random

import pytest

from apps.bench import tools
from apps.bench.rules import ask_whole, runner
from apps.bench.rules.base import DIAGNOSIS, FILE_SYSTEM, RECOMMENDATION, Evidence, PathFacts, Point
from apps.bench.rules.shapes import curves
from apps.bench.rules.shapes.families import Look, corrections_of
from apps.bench.toolkit import harmonic_metrics
from tests.bench.rules.sweeping import MIB, SYSTEM

TOOL = tools.get("btio")
# Of these nothing is a difference between settings.
NO_DIFFERENCES = {"mpi-port-bound", "mpi-collective-buffer"}


def _sweep(seed, cv, n=3, gain=1.0):
    """Return a sweep of BTIO in twelve circumstances, in which full I/O is so many times as fast as simple I/O."""
    draw, ids, points = random.Random(f"{seed} {cv} {n} {gain}"), itertools.count(1), []
    settings = itertools.product(("full", "simple"), (4, 16, 64), ("BAL", "UNBAL"), ("DIST", "ACC"))
    for subtype, ranks, node, core in settings:
        parameters = {"problem": "B", "subtype": subtype, "node_placement": node, "core_placement": core}
        parameters |= {"ranks": ranks, "collective_nodes": 0, "collective_size": MIB}
        factor = gain if subtype == "full" else 1.0
        rates = {next(ids): 100e6 * factor * draw.lognormvariate(0, cv) for _trial in range(n)}
        kinds = harmonic_metrics(TOOL, [parameters])
        roles = {"node": ("a", "b")}
        points.append(Point(parameters, {"io_rate": rates}, "btio", FILE_SYSTEM, roles, "fs", harmonic=kinds))
    return Evidence(tuple(points), PathFacts(1e9, 0.005, 9000), file_systems={"fs": SYSTEM})


def _differences(evidence):
    return [
        draft
        for draft in runner.drafts_of(ask_whole(evidence))
        if draft.rule.startswith("mpi-")
        and draft.rule not in NO_DIFFERENCES
        and draft.kind in (DIAGNOSIS, RECOMMENDATION)
    ]


@pytest.mark.parametrize("cv", [0.03, 0.10])
def test_of_sweeps_in_which_nothing_matters_hardly_any_has_a_difference(cv):
    assert sum(bool(_differences(_sweep(seed, cv))) for seed in range(40)) <= 3


@pytest.mark.parametrize(("cv", "gain"), [(0.03, 1.2), (0.10, 2.0)])
def test_a_difference_in_all_circumstances_is_told(cv, gain):
    for seed in range(8):
        assert "mpi-collective" in {draft.rule for draft in _differences(_sweep(seed, cv, gain=gain))}


def test_every_curve_knows_how_many_were_looked_at():
    evidence = _sweep(1, 0.03)
    families = {
        name: curves(evidence, factor=name) for name in ("subtype", "node_placement", "core_placement", "ranks")
    }
    assert [len(own) for own in families.values()] == [12, 12, 12, 8]
    assert {curve.looked for own in families.values() for curve in own} == {44}
    # 24 settings of three repetitions each.
    assert {curve.scatter.free for own in families.values() for curve in own} == {48}
    few = Evidence(tuple(point for point in evidence.points if point.parameters["ranks"] == 4), evidence.path)
    assert {curve.looked for curve in curves(few, factor="subtype")} == {12}


def test_the_clearest_differences_leave_the_others_fewer_to_hold_with():
    def look(place, ratio):
        trials = itertools.count(100 * place)
        near = {next(trials): value for value in (99.0, 100.0, 101.0)}
        return Look(
            ("family",),
            {1: near, 2: {next(trials): ratio * value for value in near.values()}},
            {1: 100, 2: 100 * ratio},
        )

    looks = [look(1, 2.0), look(2, 1.5), look(3, 1.0), look(4, 1.001)]
    corrections = corrections_of(looks)
    assert [corrections[look.family, look.trials].looked for look in looks] == [4, 3, 2, 2]


def test_a_curve_that_is_the_only_one_is_read_as_it_was():
    points = [point for point in _sweep(1, 0.03).points if point.parameters["ranks"] == 4]
    own = tuple(
        p for p in points if (p.parameters["node_placement"], p.parameters["core_placement"]) == ("BAL", "ACC")
    )
    (curve,) = curves(Evidence(own, file_systems={"fs": SYSTEM}), factor="subtype")
    assert curve.looked == 1
    assert curve.chance == curve.chance_alone
