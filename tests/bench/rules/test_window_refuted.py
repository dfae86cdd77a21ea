"""Who names the window as the limit and who advises a larger one read the same measurements against it."""

import itertools

import pytest

from apps.bench import tools
from apps.bench.rules import ask_ends, runner
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION
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


@pytest.mark.parametrize(
    ("rate", "facts", "is_vain"),
    [
        # 3 kB of a stream are on the way at once: any kernel's window leaves room for more.
        (5e6, {}, True),
        # 36 kB are: a window of 64 KiB may be what holds it.
        (60e6, {}, False),
        # A receiver of such small buffers gives no larger window.
        (5e6, {"server": {"net.ipv4.tcp_rmem": "4096 8192 8192"}}, False),
    ],
)
def test_no_window_is_advised_where_less_than_any_window_is_on_the_way(rate, facts, is_vain):
    make = Maker()
    probe = make.point(tools.get("pathrate"), {}, {"capacity_low": 9.3e8, "capacity_high": 9.6e8})
    points = [make.ping(0.0048), probe, make.tcp([rate * share for share in (0.99, 1, 1.01)], observed=2**22)]
    drafts = {draft.rule: draft for draft in runner.drafts_of(ask_ends(evidence(points, LINKS, **facts)))}
    assert drafts["tcp-bdp"].kind == (NO_CHANGE if is_vain else RECOMMENDATION)
    assert drafts["tcp-bdp"].proof is None or not is_vain
