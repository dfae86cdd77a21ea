"""A receiving program that takes less than comes is told as that, not as its window or as what the path holds."""

import dataclasses

import pytest

from apps.bench.rules import tcp
from apps.bench.rules.base import PathFacts
from apps.bench.rules.tcp.path import read_capacity
from tests.bench.rules.cases import Maker, evidence

RATE = 1e8
SCALED = {"net.ipv4.tcp_moderate_rcvbuf": "1", "net.ipv4.tcp_window_scaling": "1"}
ROOMY = {"net.ipv4.tcp_rmem": "4096 131072 67108864", "net.ipv4.tcp_wmem": "4096 16384 67108864", **SCALED}


def small(rtt):
    """Return settings of which two thirds are about what is on the way at the rate."""
    return {**ROOMY, "net.ipv4.tcp_rmem": f"4096 4096 {round(1.5 * RATE * rtt / 8)}"}


def flow(make, rtt, streams=1, offers=1.05, waited=0.9, again=0.0, loaded=1.0, runs=3):
    """Return streams that have the rate together, whose receiver offers little more than is on the way."""
    rates = [RATE * noise for noise in (1, 0.99, 1.01)][:runs]
    point = make.tcp(rates, streams=streams, observed=offers * RATE * rtt / 8 / streams, rtt=rtt)
    trials = point.metrics["goodput"]
    metrics = {
        "retransmits": dict.fromkeys(trials, again),
        "mean_rtt": dict.fromkeys(trials, loaded * rtt),
    }
    point = dataclasses.replace(point, metrics={**point.metrics, **metrics})
    if waited is None:
        return point
    kernel = {"receiver_window_limited": waited, "send_buffer_limited": 0.0, "retransmits": again}
    return dataclasses.replace(point, observed={"tcp": kernel})


def limit_of(points, rtt, **facts):
    ping = Maker().ping(rtt)
    drafts = tcp.findings(evidence([ping, *points], PathFacts(1e9, rtt, 1500), **facts))
    return next((draft for draft in drafts if draft.rule == "tcp-limit"), None), drafts


@pytest.mark.parametrize("rtt", [0.02, 0.15])
@pytest.mark.parametrize("offers", [1.05, 1.9])
@pytest.mark.parametrize("client", [ROOMY, {}])
def test_a_window_that_its_kernel_lets_grow_is_small_by_its_program(rtt, offers, client):
    draft, drafts = limit_of([flow(Maker(), rtt, offers=offers)], rtt, client=client, server=ROOMY)
    assert draft.subject == "receiver"
    assert not [item for item in drafts if item.kind == "recommendation"]


@pytest.mark.parametrize("rtt", [0.02, 0.15])
def test_without_the_kernels_word_the_window_seen_tells_it_less_surely(rtt):
    certain, _drafts = limit_of([flow(Maker(), rtt)], rtt, client=ROOMY, server=ROOMY)
    draft, _drafts = limit_of([flow(Maker(), rtt, waited=None)], rtt, client=ROOMY, server=ROOMY)
    assert draft.subject == "receiver"
    assert draft.confidence < certain.confidence


@pytest.mark.parametrize("rtt", [0.02, 0.15])
@pytest.mark.parametrize("waited", [0.9, None])
def test_where_nobody_told_the_limits_the_program_stands_beside_the_window(rtt, waited):
    draft, _drafts = limit_of([flow(Maker(), rtt, waited=waited)], rtt)
    assert draft.subject == "window"
    assert any("receiving program" in str(item.title) for item in draft.alternatives)


@pytest.mark.parametrize("rtt", [0.02, 0.15])
def test_a_window_that_is_as_large_as_its_kernel_lets_it_is_the_limit_by_itself(rtt):
    draft, _drafts = limit_of([flow(Maker(), rtt)], rtt, client=ROOMY, server=small(rtt))
    assert draft.subject == "window"
    assert not any("receiving program" in str(item.title) for item in draft.alternatives)


@pytest.mark.parametrize("rtt", [0.0035, 0.0045])
def test_a_window_below_64_kib_may_be_one_that_nobody_scales(rtt):
    # The receiver scales; whether its peer does nobody told.
    draft, _drafts = limit_of([flow(Maker(), rtt)], rtt, server=ROOMY)
    assert draft.subject == "window"


@pytest.mark.parametrize(
    ("change", "is_path"),
    [
        ({"waited": 0.9}, False),
        ({"waited": None}, False),
        ({"waited": None, "loaded": 1.5}, True),
        ({"waited": None, "again": 4.0}, True),
        ({"waited": 0.0, "loaded": 1.5}, True),
    ],
)
def test_streams_that_level_off_tell_the_path_only_where_they_meet_its_queue(change, is_path):
    make = Maker()
    points = [make.ping(0.02), *(flow(make, 0.02, streams=count, offers=4, **change) for count in (1, 2, 4))]
    capacity = read_capacity(evidence(points, PathFacts(None, None, 1500)))
    assert capacity.is_lower_bound != is_path
