"""Probes that saw a far smaller RTT than TCP ever did: a window for the probes' path is advised to nobody."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.rules import ask_ends, runner
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, RECOMMENDATION, PathFacts
from apps.bench.rules.tcp import bdp, per_flow, rivals
from apps.bench.rules.tcp.path import read_path
from apps.bench.rules.tcp.round_trip import UNSURE, read_rtt
from apps.bench.units import format_quantity
from tests.bench.rules.cases import TCP, Maker, evidence

PROBED = 0.001
# A window (B) and the RTT (s) that TCP had, with what they leave one stream of a path of 1 Gbit/s.
HELD = [(479 * 1024, 0.04), (2_600_000, 0.04), (2_600_000, 0.1), (1_000_000, 0.01)]


def of_path(window, rtt, links=None, counts=(1, 2), **more):
    make = Maker()
    points = [make.ping(PROBED, PROBED, PROBED)]
    for streams in counts:
        rate = min(941e6, streams * window * 8 / rtt)
        runs = [{"goodput": rate * share, "window_observed": window, "mean_rtt": rtt, "min_rtt": rtt} | more
                for share in (0.998, 1.0, 1.002)]  # fmt: skip
        points.append(make.point(TCP, {"window": 0, "streams": streams, "duration": 60}, *runs))
    return evidence(points, PathFacts(1e9, links, 1500))


@pytest.mark.parametrize(("window", "rtt"), HELD)
@pytest.mark.parametrize("links", [None, 0.001, 0.004])
def test_no_window_is_advised_that_is_smaller_than_what_is_on_the_way(window, rtt, links):
    draft = bdp.conclude(of_path(window, rtt, links))
    assert draft.kind == DIAGNOSIS
    assert draft.confidence <= 0.5
    assert "already" in str(draft.against[0])
    assert draft.predicted is None
    assert draft.proof is None


@pytest.mark.parametrize(("window", "rtt"), HELD)
def test_the_rtt_says_what_tcp_saw(window, rtt):
    reading = read_rtt(of_path(window, rtt, counts=(1, 2, 4)))
    assert reading.value == PROBED
    assert (reading.trust == UNSURE) == ("another way" in str(reading.source))
    # Streams that have far less than four of them leave the path room.
    assert (reading.trust == UNSURE) == (window * 8 / rtt < 0.5 * 941e6)


@pytest.mark.parametrize(("window", "rtt"), HELD)
@pytest.mark.parametrize("near", [0.8, 1.0, 1.2])
def test_where_the_links_agree_with_tcp_that_is_the_rtt(window, rtt, near):
    measurements = of_path(window, rtt, near * rtt, counts=(1,))
    reading = read_rtt(measurements)
    assert reading.value == rtt
    assert reading.trust < 1
    assert "probes had 1.00 ms" in str(reading.source)


def test_what_a_full_path_lets_wait_is_no_doubt():
    measurements = of_path(5_000_000, 0.04)
    assert read_rtt(measurements).trust == 1.0
    assert bdp.conclude(measurements).kind == NO_CHANGE


def test_where_tcp_agrees_the_window_is_advised():
    assert bdp.conclude(of_path(65_536, 0.0011)).kind in (RECOMMENDATION, DIAGNOSIS)
    assert read_rtt(of_path(65_536, 0.0011)).trust == 1.0


DOUBTED = [(window, rtt) for window, rtt in HELD if window * 8 / rtt < 0.25 * 941e6]


@pytest.mark.parametrize(("window", "rtt"), DOUBTED)
def test_a_window_that_only_the_doubted_rtt_rules_out_is_the_first_cause_of_a_slow_flow(window, rtt):
    draft = per_flow.conclude(of_path(window, rtt, counts=(1, 2, 4)))
    assert str(draft.alternatives[0].title).startswith("The window, or what clamps it")
    assert draft.alternatives[0].title.params["rtt"] == format_quantity(rtt, "s")
    assert draft.confidence <= UNSURE


@pytest.mark.parametrize(("window", "rtt"), DOUBTED)
@pytest.mark.parametrize("shares", [(0.25, 0.5), (0.1, 0.3, 0.9)])
def test_no_window_is_said_to_leave_room_by_a_doubted_rtt(window, rtt, shares):
    make, sizes = Maker(), [round(share * window) for share in shares]
    base = of_path(window, rtt, counts=(1, 2, 4))
    asked = [
        make.tcp([size * 8 / rtt * share for share in (0.998, 1, 1.002)], window=size, observed=size, rtt=rtt)
        for size in sizes
    ]
    moved = [
        make.point(tools.get("gridftp"), {"window": size}, *[{"throughput": (size or window) / rtt}] * 3)
        for size in (0, *sizes)
    ]
    for points in (asked, moved, [*asked, *moved]):
        measurements = evidence([*base.points, *map(_apart, points)], base.path)
        drafts = runner.drafts_of(ask_ends(measurements))
        texts = " ".join(str(text) for draft in drafts for text in (draft.title, *draft.why, *draft.against))
        assert not any(word in texts for word in ("leaves room for", "no more than the kernel's own", "would allow"))
        assert "the window does not hold it" not in texts


def _apart(point):
    """Return a point whose trials are none of another maker's."""
    metrics = {name: {trial + 1000: value for trial, value in own.items()} for name, own in point.metrics.items()}
    return dataclasses.replace(point, metrics=metrics)


@pytest.mark.parametrize("rtt", [0.02, 0.04, 0.1])
def test_no_path_is_short_by_a_doubted_rtt(rtt):
    measurements = of_path(8000, rtt, counts=(1, 2, 4))
    slow = dataclasses.replace(measurements, path=PathFacts(1e8, None, 1500))
    path = read_path(slow)
    assert path.rtt.is_doubted
    assert not bdp.is_short(path)
    assert bdp.is_short(dataclasses.replace(path, rtt=dataclasses.replace(path.rtt, by_tcp=0.0)))


@pytest.mark.parametrize("again", [8, 12])
def test_a_doubted_rtt_rules_no_loss_out(again):
    measurements = of_path(479 * 1024, 0.04, retransmits=again)
    draft = dataclasses.replace(bdp.conclude(measurements), kind=RECOMMENDATION)
    # By the law of loss at the probes' RTT forty times as much would come through.
    assert len(rivals.beside(draft, measurements).alternatives) == len(draft.alternatives) + 1
