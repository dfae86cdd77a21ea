"""Probes that saw a far smaller RTT than TCP ever did: a window for the probes' path is advised to nobody."""

import pytest

from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, RECOMMENDATION, PathFacts
from apps.bench.rules.tcp import bdp
from apps.bench.rules.tcp.round_trip import UNSURE, read_rtt
from tests.bench.rules.cases import TCP, Maker, evidence

PROBED = 0.001
# A window (B) and the RTT (s) that TCP had, with what they leave one stream of a path of 1 Gbit/s.
HELD = [(479 * 1024, 0.04), (2_600_000, 0.04), (2_600_000, 0.1), (1_000_000, 0.01)]


def of_path(window, rtt, links=None, counts=(1, 2)):
    make = Maker()
    points = [make.ping(PROBED, PROBED, PROBED)]
    for streams in counts:
        rate = min(941e6, streams * window * 8 / rtt)
        runs = [{"goodput": rate * share, "window_observed": window, "mean_rtt": rtt, "min_rtt": rtt}
                for share in (0.998, 1.0, 1.002)]  # fmt: skip
        points.append(make.point(TCP, {"window": 0, "streams": streams, "duration": 10}, *runs))
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
