"""What is lost in bursts or outages is not said to be lost by chance, and its interval holds the true share."""

import random

import pytest

from apps.bench.rules import ask_ends
from apps.bench.rules.base import PathFacts
from apps.bench.rules.runner import drafts_of
from tests import sayings
from tests.bench.rules.cases import UDP, Maker, evidence

LOADS, SECONDS, DATAGRAM, RTT = (100e6, 200e6, 400e6, 600e6, 800e6), 10, 1448, 0.02
PATH = PathFacts(1_000_000_000, RTT, 1500)
# One stream of TCP that has far more than chance of such a share leaves it, and one that has about so much.
MUCH, AS_CHANCE = 310e6, 3.6e6
# How Mathis and his colleagues would have it: MSS / RTT * 1.22 / sqrt(5 %).
SHARE = 0.05


def regular(_source):
    """Return the share of an outage of 100 ms each 2 s."""
    return SHARE


def shifted(source):
    """Return the share of outages of 80 ms each 1.3 s, from whenever a run begins."""
    start = source.random() * 1.3
    return 0.08 * sum(start + 1.3 * turn < SECONDS for turn in range(40)) / SECONDS


def bursts(source):
    """Return the share of some 40 bursts of 20 ms each."""
    return sum(source.expovariate(50) for _turn in range(sum(source.random() < 0.1 for _ in range(400)))) / SECONDS


def chance(source, load):
    sent = load * SECONDS / 8 / DATAGRAM
    return source.gauss(SHARE, (SHARE * (1 - SHARE) / sent) ** 0.5)


def told(draw, seed, tcp_rate):
    """Return what is said of the loss, None where nothing is."""
    source, make = random.Random(seed), Maker()
    points = [make.ping(RTT, RTT)]
    for load in LOADS:
        losses = [chance(source, load) if draw is chance else draw(source) for _run in range(3)]
        figures = [{"goodput": load * (1 - loss), "offered_load": load, "loss": loss} for loss in losses]
        points.append(make.point(UDP, {"rate": load, "duration": SECONDS, "length": DATAGRAM}, *figures))
    if tcp_rate:
        points.append(make.tcp([tcp_rate * part for part in (0.99, 1.0, 1.01)], rtt=RTT, observed=2e6))
    drafts = drafts_of(ask_ends(evidence(points, PATH)))
    return next((draft for draft in drafts if draft.rule == "path-loss"), None)


def title_of(draft):
    return sayings.filled(draft.title.as_json())


@pytest.mark.parametrize("tcp_rate", [None, MUCH])
@pytest.mark.parametrize("draw", [regular, shifted, bursts])
def test_outages_and_bursts_are_not_said_to_be_chance(draw, tcp_rate):
    for seed in range(20):
        draft = told(draw, seed, tcp_rate)
        assert not title_of(draft).endswith("by chance") or "not by chance" in title_of(draft)
        others = [sayings.filled(item.title.as_json()) for item in draft.alternatives]
        assert any("outages" in text for text in others)
        if draw is regular and tcp_rate:
            assert "not by chance" in title_of(draft)
            assert any("310.0 Mbit/s" in sayings.filled(line.as_json()) for line in draft.why)


def test_what_tcp_bears_out_is_said_to_be_chance():
    assert all(title_of(told(chance, seed, AS_CHANCE)).endswith("by chance") for seed in range(20))
    assert not any(title_of(told(chance, seed, None)).endswith("by chance") for seed in range(20))


@pytest.mark.parametrize(("draw", "true"), [(bursts, 0.08), (chance, SHARE)])
def test_the_interval_holds_the_true_share_as_often_as_it_says(draw, true):
    drafts = [draft for seed in range(200) if (draft := told(draw, seed, None))]
    held = sum(draft.low <= 100 * true <= draft.high for draft in drafts)
    assert len(drafts) > 100
    assert held >= 0.92 * len(drafts), (held, len(drafts))


@pytest.mark.parametrize("draw", [regular, bursts, chance])
def test_no_interval_is_printed_as_one_figure(draw):
    for seed in range(20):
        lines = [line for line in told(draw, seed, None).why if line.msgid.startswith("Lost were")]
        assert [line.params["low"] != line.params["high"] for line in lines] == [True], lines
