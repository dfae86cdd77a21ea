"""Who names the window as the limit and who advises a larger one read the same measurements against it."""

import dataclasses
import itertools

import pytest

from apps.bench import tools
from apps.bench.rules import ask_ends, runner
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION
from apps.bench.rules.tcp.round_trip import read_rtt
from tests.bench.rules.cases import LINKS, Maker, evidence

# What one stream had in Mbit/s, of a path of about 940.
STEADY, DIPPING, FILLING = (240, 241, 239, 240), (240, 604, 609, 606, 603), (240, 936, 938, 937, 936)
# So many times one stream's rate by several, and by larger windows; None: not measured.
BY_STREAMS, BY_WINDOWS = (None, 0.8, 1.0, 1.05, 1.15, 1.3, 2.0, 3.8), (None, 0.98, 1.15, 1.5, 3.5)


def drafts_of(rates, by_streams=None, by_windows=None):
    """Return the drafts by rule: with rates that the windows seen explain, so that the law names the window."""
    make = Maker()
    points = [make.ping(0.0048), make.tcp([rate * 1e6 for rate in rates])]
    typical = sorted(rates)[len(rates) // 2]
    if by_streams:
        points += make.stream_sweep({n: [by_streams * typical * share for share in (0.99, 1, 1.01)] for n in (2, 4)})
    if by_windows:
        own = [by_windows * typical * 1e6 * share for share in (0.99, 1, 1.01)]
        points += [make.tcp(own, window=window) for window in (2**20, 2**21)]
    return {draft.rule: draft for draft in runner.drafts_of(ask_ends(evidence(points, LINKS)))}


def is_window(drafts):
    return "tcp-limit" in drafts and drafts["tcp-limit"].subject == "window"


@pytest.mark.parametrize("rates", [STEADY, DIPPING, FILLING])
def test_no_window_is_the_limit_where_a_larger_one_gains_nothing(rates):
    count = 0
    for by_streams, by_windows in itertools.product(BY_STREAMS, BY_WINDOWS):
        drafts = drafts_of(rates, by_streams, by_windows)
        is_vain = "tcp-bdp" in drafts and drafts["tcp-bdp"].kind == NO_CHANGE
        assert not (is_vain and is_window(drafts)), (by_streams, by_windows)
        count += is_vain
    assert count


@pytest.mark.parametrize(
    ("rates", "by_streams", "by_windows", "expected"),
    [
        (STEADY, None, None, True),
        (STEADY, 3.8, None, True),
        # What streams share holds them, and no window of theirs.
        (STEADY, 0.8, None, False),
        (STEADY, 1.0, None, False),
        # Streams that multiply beside windows that gain nothing: a limit of each flow, not the window.
        (STEADY, 3.8, 0.98, False),
        # A larger window that had more is told by nothing else.
        (STEADY, 1.0, 3.5, True),
        # Most runs filled the path: what held a few is not the window.
        (FILLING, None, None, False),
    ],
)
def test_the_window_is_named_by_all_that_was_measured(rates, by_streams, by_windows, expected):
    drafts = drafts_of(rates, by_streams, by_windows)
    assert is_window(drafts) == expected
    if expected and not by_windows:
        assert drafts["tcp-bdp"].kind == RECOMMENDATION


GROWING = {"net.ipv4.tcp_rmem": "4096 131072 67108864", "net.ipv4.tcp_wmem": "4096 16384 67108864"}
GROWING |= {"net.ipv4.tcp_moderate_rcvbuf": "1", "net.ipv4.tcp_window_scaling": "1"}


@pytest.mark.parametrize(
    ("rate", "observed", "waited", "facts", "is_vain"),
    [
        # 3 kB of a stream are on the way at once: any kernel's window leaves room for more.
        (5e6, 8192, None, {}, True),
        # 36 kB are: a window of 64 KiB may be what holds it.
        (60e6, 65536, None, {}, False),
        # A receiver of such small buffers gives no larger window.
        (5e6, 8192, None, {"server": {"net.ipv4.tcp_rmem": "4096 8192 8192"}}, False),
        # A member of a bundle of links, or a shaper of each flow: both kernels let windows grow far beyond it.
        (240e6, 300_000, None, dict.fromkeys(("client", "server"), GROWING), True),
        (240e6, 300_000, None, {"client": GROWING}, False),
        # The receiver's window was many times as large: the sender's own buffer may hold less than that.
        (240e6, 2**20, None, {}, False),
        (240e6, 2**20, None, {"client": {**GROWING, "net.ipv4.tcp_wmem": "4096 16384 524288"}}, False),
        (240e6, 2**20, None, {"client": GROWING}, True),
        # The kernel says that nobody waited for one.
        (240e6, 300_000, 0.0, {}, True),
        (240e6, 300_000, 0.3, {}, False),
    ],
)
def test_no_window_is_advised_where_the_one_that_is_there_leaves_room(rate, observed, waited, facts, is_vain):
    make = Maker()
    probe = make.point(tools.get("pathrate"), {}, {"capacity_low": 9.3e8, "capacity_high": 9.6e8})
    point = make.tcp([rate * share for share in (0.99, 1, 1.01)], observed=observed)
    if waited is not None:
        said = {"receiver_window_limited": waited, "send_buffer_limited": 0.0, "busy": 10.0}
        point = dataclasses.replace(point, observed={**point.observed, "tcp": said})
    drafts = runner.drafts_of(ask_ends(evidence([make.ping(0.0048), probe, point], LINKS, **facts)))
    bdp = next(draft for draft in drafts if draft.rule == "tcp-bdp")
    assert bdp.kind == (NO_CHANGE if is_vain else RECOMMENDATION)
    assert bdp.proof is None or not is_vain
    assert is_vain or next(draft for draft in drafts if draft.rule == "tcp-sysctl").kind == RECOMMENDATION


def test_the_round_trip_is_tcps_where_no_probe_came_near_it():
    make = Maker()
    for probed, expected in ((0.0100, 0.005), (0.0052, 0.0052), (0.004, 0.004)):
        rtt = read_rtt(evidence([make.ping(probed), make.tcp([2e8, 2.1e8], rtt=0.005)], LINKS))
        assert rtt.value == expected


def test_windows_that_another_tool_asked_for_in_vain_are_read_beside_the_roles_of_a_probe():
    make, tool = Maker(), tools.get("gridftp")
    ways = {"way": (1, 2)}
    points = [
        make.point(
            tool, {"window": window, "streams": 1}, *({"throughput": 6e7 * share} for share in (0.98, 1, 1.02))
        )
        for window in (0, 2**20, 2**22)
    ]
    beside = dataclasses.replace(evidence(points, LINKS), **ways)
    probe = make.point(tools.get("pathrate"), {}, {"capacity_low": 9.3e8, "capacity_high": 9.6e8})
    asked = dataclasses.replace(evidence([make.ping(0.0048), probe], LINKS), beside=(beside,), **ways)
    drafts = {draft.rule: draft for draft in runner.drafts_of(ask_ends(asked))}
    assert drafts["tcp-bdp"].kind == NO_CHANGE
    assert "tcp-sysctl" not in drafts or drafts["tcp-sysctl"].kind == NO_CHANGE
