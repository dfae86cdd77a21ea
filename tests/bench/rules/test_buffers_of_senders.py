"""A sender's own buffer bounds the window in use, whatever its peer offers, and is told as what holds the rate."""

import pytest

from apps.bench.rules import ask_ends, runner
from apps.bench.rules.base import PathFacts
from tests.bench.rules.cases import Maker, evidence

MOST, ROOMY = 131072, 2**28


def drafts_of(rtt, offered, wmem, share=0.66, counts=(1,)):
    """Return the drafts by rule of streams that each have so large a share of the sender's small buffer."""
    make, one = Maker(), share * MOST * 8 / rtt
    points = [make.ping(rtt, rtt, rtt)]
    for count in counts:
        rates = [count * one * noise for noise in (0.99, 1, 1.01)]
        points.append(make.tcp(rates, streams=count, observed=offered, rtt=rtt))
    client = {"net.ipv4.tcp_wmem": f"4096 16384 {wmem}"}
    server = {"net.ipv4.tcp_rmem": f"4096 131072 {ROOMY}"}
    swept = evidence(points, PathFacts(1e9, rtt, 1500), client=client, server=server)
    return {draft.rule: draft for draft in runner.drafts_of(ask_ends(swept))}


@pytest.mark.parametrize("share", [0.62, 0.66, 0.7])
@pytest.mark.parametrize("counts", [(1,), (1, 2, 4)])
@pytest.mark.parametrize("rtt", [0.02, 0.164])
@pytest.mark.parametrize("offered", [2e7, 1.66e8])
def test_a_senders_small_buffer_is_the_window_in_use(rtt, counts, share, offered):
    drafts = drafts_of(rtt, offered, MOST, share, counts)
    assert drafts["tcp-limit"].subject == "window"
    assert any("tcp_wmem" in str(reason) for reason in drafts["tcp-limit"].why)
    assert "tcp-per-flow-limit" not in drafts


@pytest.mark.parametrize("wmem", [4 * MOST, ROOMY])
def test_a_senders_large_buffer_bounds_nothing(wmem):
    drafts = drafts_of(0.02, 2e7, wmem, counts=(1, 2, 4))
    assert "tcp-limit" not in drafts
    assert "tcp-per-flow-limit" in drafts
