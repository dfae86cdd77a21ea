"""What several rules read of one evidence is read once."""

import dataclasses
import itertools

import pytest

from apps.bench.rules import tcp
from apps.bench.rules.base import FILE_SYSTEM, Evidence, PathFacts
from apps.bench.rules.layers import judge_all
from apps.bench.rules.readings import read_once
from apps.bench.rules.runner import conclude_all
from apps.bench.rules.storage import ends
from apps.bench.rules.tcp import sweeps
from tests.bench.rules.cases import Maker, evidence
from tests.bench.rules.storing import CLIENTS, GPFS, Storing


def test_it_is_read_once_of_each_evidence():
    questions = []
    reader = read_once(lambda sweep: questions.append(sweep.path.mtu))
    first = evidence([], PathFacts(mtu=1500))
    reader(first), reader(first), reader(dataclasses.replace(first, path=PathFacts(mtu=9000))), reader(first)
    assert questions == [1500, 9000]
    # It is no part of what the evidence says.
    assert first == evidence([], PathFacts(mtu=1500))
    assert "1500" in repr(first) and "lambda" not in repr(first)


def test_what_it_is_asked_with_tells_readings_apart():
    questions = []
    reader = read_once(lambda sweep, factor, *, metric="": questions.append((factor, metric)) or (factor, metric))
    first = evidence([], PathFacts(mtu=1500))
    for factor, metric in (("ranks", "read"), ("ranks", "write"), ("nodes", "read")) * 2:
        assert reader(first, factor, metric=metric) == (factor, metric)
    assert reader(first, "ranks") == ("ranks", "")
    assert questions == [("ranks", "read"), ("ranks", "write"), ("nodes", "read"), ("ranks", "")]


def test_what_cannot_be_read_is_asked_for_again():
    questions = []

    def fail(sweep: Evidence) -> None:
        questions.append(sweep)
        raise KeyError("window")

    reader, sweep = read_once(fail), evidence([], PathFacts())
    for _time in range(2):
        with pytest.raises(KeyError):
            reader(sweep)
    assert len(questions) == 2


def test_all_rules_of_tcp_join_its_points_once(monkeypatch):
    joined = []
    make = Maker()
    sweep = evidence([make.tcp([1e8, 1.1e8], window, 1) for window in (0, 1 << 16, 1 << 20)], PathFacts(1e9, 0.02))
    monkeypatch.setattr(sweeps, "is_tcp", lambda point, known=sweeps.is_tcp: joined.append(point) or known(point))
    conclude_all(tcp.ENDS, sweep)
    # One rule looks at what it compares once more.
    assert len(sweep.points) <= len(joined) <= 2 * len(sweep.points)


def test_the_network_beneath_trends_is_made_once_for_each_verdict(monkeypatch):
    store = Storing().tcp("KGFS01", "PGFS01", [900, 905, 910])
    for count in (1, 2, 3, 4):
        rates = {name: [80e6 * (1 - 0.5**count) * share for share in (0.99, 1.0, 1.01)] for name in ("write", "read")}
        store.point(FILE_SYSTEM, rates, file_system=GPFS.name, roles={"client": CLIENTS[:count]}, clients=count)
    measured, networks = store.evidence(GPFS), []
    monkeypatch.setattr(ends, "Network", lambda *args, made=ends.Network: networks.append(args) or made(*args))
    for metric, count in 2 * [*itertools.product(("write", "read"), (1, 2))]:
        assert ends.carried_for(measured, GPFS.name, metric, CLIENTS[:count])
    assert len(networks) == len(judge_all(measured)) == 2
