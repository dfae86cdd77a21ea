"""MPI between nodes: what the port allows, and what each step of distance costs."""

import statistics

import pytest

from apps.bench.rules import mpi
from apps.bench.rules.base import DIAGNOSIS, DOUBT, NO_CHANGE
from tests.bench.rules.storing import Storing

QDR = {"t1": "InfiniBand 4X QDR", "t2": "InfiniBand 4X QDR"}


def drafts_of(evidence, rule):
    return [draft for draft in mpi.overview(evidence) if draft.rule == rule]


def bandwidth(rate, *, interconnects=QDR, nodes=("t1", "t2"), **parameters):
    maker = Storing().mpi("osu-bandwidth", {"bandwidth": [rate, rate * 1.01]}, nodes, **parameters)
    return drafts_of(maker.evidence(interconnects=interconnects), "mpi-port-bound")


def test_the_share_of_the_port_is_told():
    [full] = bandwidth(3.4e9, placement="other-node")
    assert (full.kind, full.present) == (NO_CHANGE, pytest.approx(statistics.harmonic_mean([3.4e9, 3.434e9])))
    assert "85 %" in str(full.title)
    [low] = bandwidth(1.5e9)
    assert low.kind == DIAGNOSIS
    assert low.alternatives[0].proposal.tool == "mpi-pingpong"
    [wrong] = bandwidth(5.2e9)
    assert wrong.kind == DOUBT
    assert "5.226 GB/s" in str(wrong.title)
    mixed = bandwidth(1.5e9, interconnects={**QDR, "t2": "InfiniBand 4X DDR"})
    assert "2.000 GB/s" in str(mixed[0].why[1])


@pytest.mark.parametrize(
    "changed",
    [
        {"placement": "same-socket"},
        {"nodes": ("t1",)},
        {"interconnects": {"t1": "InfiniBand 4X QDR"}},
        {"interconnects": {"t1": "Gigabit Ethernet", "t2": "InfiniBand 4X QDR"}},
        {"interconnects": {}},
    ],
    ids=["within a node", "one node", "one unknown", "Ethernet", "unknown"],
)
def test_nothing_is_said_where_no_port_lies_between(changed):
    assert bandwidth(3.4e9, **changed) == []


def distances(values, *, placement="other-node", metric="latency", noise=0.01):
    maker = Storing()
    for distance, value in values.items():
        rates = [value * (1 + noise * place) for place in (-1, 0, 1)]
        maker.mpi("osu-latency", {metric: rates}, placement=placement, distance=distance, message_size=8)
    return drafts_of(maker.evidence(), "mpi-distance")


def test_each_switch_more_costs_and_near_partners_are_nearer():
    [draft] = distances({1: 1.5e-6, 3: 1.9e-6, 5: 2.3e-6})
    assert (draft.kind, draft.is_comparison) == (DIAGNOSIS, True)
    assert draft.value == pytest.approx(0.2e-6)
    assert "--switches=1" in draft.change
    assert (draft.proof.now["distance"], draft.proof.then["distance"]) == (5, 1)
    assert draft.predicted < draft.tried
    assert draft.proof.now["message_size"] == 8
    [slower] = distances({1: 3.2e9, 3: 2.4e9}, metric="bandwidth")
    assert slower.value == pytest.approx(0.4e9)
    [numa] = distances({1: 0.3e-6, 2: 0.5e-6}, placement="other-socket")
    assert "--map-by numa" in numa.change


def test_distance_without_effect_needs_no_change_and_scatter_says_nothing():
    [draft] = distances({1: 1.50e-6, 3: 1.51e-6}, noise=0.001)
    assert (draft.kind, draft.change, draft.proof) == (NO_CHANGE, "", None)
    assert distances({1: 1.5e-6, 3: 1.9e-6}, noise=0.5) == []
    assert distances({0: 1.5e-6, 3: 1.9e-6}) == []
    assert distances({1: 1.5e-6, 3: 1.9e-6}, placement="free") == []
