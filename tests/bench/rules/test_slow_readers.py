"""A receiving program that takes less than comes is told as that, not as its window or as what the path holds.

What clamps each connection's window looks the same with one stream: it is told beside, or by streams that multiply.
"""

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


def flow(make, rtt, streams=1, offers=1.05, waited=0.9, again=0.0, loaded=1.0, runs=3, times=1, window=0):
    """Return streams that have so many times the rate together, whose receiver offers little more than that."""
    rates = [times * RATE * noise for noise in (1, 0.99, 1.01)][:runs]
    observed = offers * times * RATE * rtt / 8 / streams
    point = make.tcp(rates, streams=streams, observed=observed, rtt=rtt, window=window)
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


CAUSES = ("SO_RCVBUF", "ip route", "container")
# The rate of so many streams, as a multiple of that of one.
MULTIPLES = [{1: 1, 2: 2}, {1: 1, 2: 2, 4: 4}, {1: 1, 4: 2.9}, {1: 1, 8: 7.8, 16: 7.9}, {2: 1, 8: 4}]
PACES = [{1: 1, 2: 1}, {1: 1, 2: 1, 4: 1.01}, {1: 1, 8: 0.98}]


def streams_of(multiples, **more):
    make = Maker()
    return [flow(make, 0.02, streams=count, times=times, **more) for count, times in multiples.items()]


def says_vain(drafts):
    return [
        draft.rule for draft in drafts if "gains nothing" in str(draft.title) or "gain nothing" in str(draft.title)
    ]


@pytest.mark.parametrize("multiples", MULTIPLES)
@pytest.mark.parametrize("waited", [0.56, 0.95, None])
def test_a_program_that_takes_more_of_more_streams_is_not_the_limit(multiples, waited):
    draft, drafts = limit_of(streams_of(multiples, waited=waited), 0.02, client=ROOMY, server=ROOMY)
    assert draft.subject == "clamp"
    assert [any(cause in str(item.title) for item in draft.alternatives) for cause in CAUSES] == [True] * 3
    assert not says_vain(drafts)
    assert not [item.rule for item in drafts if item.rule == "tcp-bdp" and item.kind == "recommendation"]


@pytest.mark.parametrize("multiples", MULTIPLES)
def test_where_nobody_told_the_limits_no_program_is_named_that_takes_more(multiples):
    draft, _drafts = limit_of(streams_of(multiples), 0.02)
    assert draft.subject == "window"
    assert not any("receiving program" in str(item.title) for item in draft.alternatives)


@pytest.mark.parametrize("multiples", PACES)
def test_streams_that_share_its_pace_tell_the_program_for_sure(multiples):
    draft, _drafts = limit_of(streams_of(multiples), 0.02, client=ROOMY, server=ROOMY)
    assert "The receiving program is the limit" in str(draft.title)
    assert not draft.alternatives


@pytest.mark.parametrize("waited", [0.95, None])
def test_one_stream_leaves_open_whether_its_program_or_a_clamp_holds_it(waited):
    draft, drafts = limit_of(streams_of({1: 1}, waited=waited), 0.02, client=ROOMY, server=ROOMY)
    assert draft.subject == "receiver"
    assert "undecided" in str(draft.title)
    assert [any(cause in str(item.title) for item in draft.alternatives) for cause in CAUSES] == [True] * 3
    assert dict(draft.proposals[0].factors) == {"streams": "1, 2, 4"}
    assert not says_vain(drafts)


@pytest.mark.parametrize(("times", "is_vain"), [(1.0, True), (1.15, False)])
@pytest.mark.parametrize("multiples", [{1: 1}, {1: 1, 4: 4}])
def test_only_a_larger_window_that_was_asked_for_and_had_no_more_gains_nothing(times, is_vain, multiples):
    points = streams_of(multiples) + [flow(Maker(), 0.02, times=times, window=2**21)]
    draft, drafts = limit_of(points, 0.02, client=ROOMY, server=ROOMY)
    assert draft.subject == ("clamp" if 4 in multiples else "receiver")
    assert bool(says_vain(drafts)) == is_vain
