"""Loads of UDP of which nothing arrived: no path that is full, and one finding names them."""

import itertools

import pytest

from apps.bench.network.loss_curve import LoadPoint, analyse
from apps.bench.rules import ask_ends, runner
from apps.bench.rules.base import PathFacts
from apps.bench.rules.tcp import estimates
from tests.bench.rules.cases import UDP, Maker, evidence

LOADS = [5e7, 1e8, 5e8]
# Of each load the share that arrives, where something does: whole, by chance, and of what is full.
SHARES = [(1.0, 1.0, 1.0), (0.99, 0.99, 0.99), (1.0, 0.9, 0.18)]
SILENT = [places for count in (1, 2) for places in itertools.combinations(range(3), count)]


def _findings(shares, tcp=True):
    make = Maker()
    points = [make.ping(0.0048, 0.0048, 0.0048)]
    if tcp:
        points.append(make.tcp([938e6, 939e6, 940e6], observed=4e6))
    for load, share in zip(LOADS, shares, strict=True):
        run = {"goodput": share * load, "loss": 1 - share, "offered_load": load, "jitter": 0.0}
        points.append(make.point(UDP, {"rate": int(load)}, *[run] * 3))
    measurements = evidence(points, PathFacts(1e9, 0.0048, 1500))
    return measurements, {draft.rule: draft for draft in runner.drafts_of(ask_ends(measurements))}


def _said(shares):
    curve = analyse(LoadPoint(load, 1 - share) for load, share in zip(LOADS, shares, strict=True))
    return [str(message) for message in curve.conclusions]


@pytest.mark.parametrize("tcp", [True, False])
def test_where_nothing_arrived_of_any_load_one_finding_says_so(tcp):
    measurements, drafts = _findings((0, 0, 0), tcp)
    assert not {"path-datagrams", "path-capacity", "path-loss"} & drafts.keys()
    assert "lets no UDP through" in str(drafts["path-silence"].alternatives[0].title)
    assert estimates.loss_curve_of(measurements)[0] is None
    (sentence,) = _said((0, 0, 0))
    assert "firewall" in sentence
    assert "offer less" not in sentence


@pytest.mark.parametrize("whole", SHARES)
@pytest.mark.parametrize("silent", SILENT)
def test_loads_of_which_nothing_arrived_tell_nothing_else_of_the_path(whole, silent):
    shares = [0 if place in silent else share for place, share in enumerate(whole)]
    _measurements, drafts = _findings(shares)
    assert "lets no UDP through" not in str(drafts["path-silence"].alternatives[0].title)
    texts = [
        str(text) for rule in drafts.keys() - {"path-silence"} for text in (drafts[rule].title, *drafts[rule].why)
    ]
    assert not [text for text in texts if "0 bit/s" in text.split() or "100 % was lost" in text]
    (silence,) = [text for text in _said(shares) if "nothing arrived: a link" in text]
    assert silence.count("Mbit/s") == len(silent)
    left = {load: share for load, share in zip(LOADS, shares, strict=True) if share}
    alone = analyse(LoadPoint(load, 1 - share) for load, share in left.items())
    curve = analyse(LoadPoint(load, 1 - share) for load, share in zip(LOADS, shares, strict=True))
    assert (curve.whole, curve.lossy, curve.plateau, curve.full) == (
        alone.whole, alone.lossy, alone.plateau, alone.full,
    )  # fmt: skip
    assert len(_said(shares)) == 1 + len(alone.conclusions)
