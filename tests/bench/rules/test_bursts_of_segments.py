"""Segments that were lost in bursts do not make loss the limit, however near their share leaves the rate."""

import random

import pytest

from apps.bench import model
from apps.bench.rules.base import LinkFacts, PathFacts
from apps.bench.rules.tcp import verdict
from tests.bench.rules.cases import Maker, evidence

RTT, MSS, SECONDS, WINDOW = 0.01, 1448, 10, 4 * 2**20
LINKS = PathFacts(1e10, RTT, 1500, (LinkFacts("WAN", 1e10),), "WAN")
RATE = 50e6


def subject_of(counts, settings=(1,)):
    """Return what is said to limit settings that all had the same rate, with so many segments sent again in runs."""
    make, points = Maker(), []
    for streams in settings:
        point = make.tcp([streams * RATE for _run in counts[streams]], rtt=RTT, duration=SECONDS, streams=streams)
        trials = point.trials("goodput")
        point.metrics["retransmits"] = dict(zip(trials, map(float, counts[streams]), strict=True))
        point.metrics["window_observed"] = dict.fromkeys(trials, WINDOW)
        points.append(point)
    draft = verdict.conclude(evidence([make.ping(RTT), *points], LINKS))
    return draft.subject if draft else None


def poisson(mean, draw):
    return sum(draw.random() < mean / 1000 for _try in range(1000))


# So many segments in a run leave the rate by the law, whatever lost them.
AGAIN = round(model.mathis_loss(RATE, MSS, RTT) * RATE * SECONDS / 8 / MSS)


@pytest.mark.parametrize("runs", [3, 5, 10])
def test_of_bursts_loss_is_said_to_be_the_limit_seldom_and_of_chance_nearly_always(runs):
    settings, told = (1, 2, 4), {"bursts": 0, "chance": 0}
    for seed in range(60):
        draw = random.Random(seed)
        bursts = {n: [sum(draw.choice((0, 3 * AGAIN)) for _s in range(n)) for _run in range(runs)] for n in settings}
        chance = {n: [poisson(n * AGAIN, draw) for _run in range(runs)] for n in settings}
        told["bursts"] += subject_of(bursts, settings) == "loss"
        told["chance"] += subject_of(chance, settings) == "loss"
    assert told["bursts"] <= 1
    assert told["chance"] >= 55


def test_of_one_run_loss_is_the_limit_only_where_no_burst_loses_so_much():
    under_way = RATE * RTT / 8 / MSS
    for again in range(5, 200, 5):
        assert subject_of({1: [again]}) != "loss" or again >= under_way
