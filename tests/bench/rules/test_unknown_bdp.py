"""Of a path of which only a lower bound is known no rule tells a BDP: another one, of the same path, would differ."""

import pytest

from apps.bench.rules import ask_ends
from apps.bench.rules.base import PathFacts
from apps.bench.rules.runner import drafts_of
from apps.bench.rules.tcp.path import read_path
from tests.bench.rules import null_worlds
from tests.bench.rules.cases import Maker, evidence
from tests.bench.rules.null_worlds import Draw

OFF = {"net.ipv4.tcp_window_scaling": "0"}


def windows():
    make = Maker()
    rates = {64: [50, 51, 50], 128: [100, 101, 99], 256: [200, 202, 201], 512: [390, 391, 392], 1024: [391, 390, 392]}
    return evidence([make.ping(0.0048), *make.window_sweep(rates)], PathFacts())


def unscaled():
    make = Maker()
    return evidence([make.ping(0.1), make.tcp([5.2e6] * 3), make.tcp([90e6] * 3, streams=16)], client=OFF, server=OFF)


def transfers():
    return null_worlds.transfers(Draw(1, 0.01, 3), 2.0)


@pytest.mark.parametrize("make", [windows, unscaled, transfers])
def test_no_rule_tells_a_bdp_of_a_lower_bound(make):
    measurements = make()
    path = read_path(measurements)
    assert path is not None
    told = {
        draft.rule: line.params["bdp"]
        for draft in drafts_of(ask_ends(measurements))
        for line in (draft.title, *draft.why, *draft.against)
        if "bdp" in line.params
    }
    assert not told or not path.capacity.is_lower_bound
    assert make is not windows or path.capacity.is_lower_bound
