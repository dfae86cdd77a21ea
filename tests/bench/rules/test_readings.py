"""What several rules read of one evidence is read once."""

import dataclasses

import pytest

from apps.bench.rules import tcp
from apps.bench.rules.base import Evidence, PathFacts
from apps.bench.rules.readings import read_once
from apps.bench.rules.runner import conclude_all
from apps.bench.rules.tcp import sweeps
from tests.bench.rules.cases import Maker, evidence


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
