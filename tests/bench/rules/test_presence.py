"""What is there at present is a default that was measured, or a fact of the nodes; other settings were only tried."""

import pytest

from apps.bench.rules import gridftp, storage, tcp
from apps.bench.rules.base import DIAGNOSIS, RECOMMENDATION, Proof
from apps.bench.rules.presence import is_present, settle
from tests.bench.rules.cases import KIB, Maker, evidence, tools
from tests.bench.rules.storing import GPFS, sweep

OWN = {"net.ipv4.tcp_congestion_control": "reno"}


def transfers(make, rates):
    """Return points of {(streams, window in KiB): rates in MB/s}."""
    tool = tools.get("gridftp")
    return [
        make.point(tool, {"streams": streams, "window": window * KIB}, *({"throughput": 1e6 * rate} for rate in own))
        for (streams, window), own in rates.items()
    ]


@pytest.mark.parametrize("has_default", [True, False])
def test_options_are_advised_against_a_default_that_was_measured_only(has_default):
    rates = {(1, 64): [20, 20.1], (8, 64): [100, 101], (1, 1024): [118, 119]}
    points = transfers(Maker(), {**({(1, 0): [60, 60.2]} if has_default else {}), **rates})
    (draft,) = [item for item in gridftp.findings(evidence(points)) if item.rule == "gridftp-options"]
    assert draft.kind == (RECOMMENDATION if has_default else DIAGNOSIS)
    assert (draft.present is not None, draft.is_comparison) == (has_default, not has_default)
    assert str(draft.title).startswith(
        "Start GridFTP" if has_default else "Of the options of GridFTP that were tried"
    )


@pytest.mark.parametrize("window", [0, 64 * KIB])
def test_streams_gain_over_one_stream_as_nobody_chose_it_only(window):
    make = Maker()
    rates = {1: [160, 161], 2: [320, 321], 4: [640, 641], 8: [700, 701], 16: [701, 700]}
    points = [make.ping(0.0048), *make.stream_sweep(rates, window=window)]
    (draft,) = [item for item in tcp.findings(evidence(points)) if item.rule == "tcp-streams"]
    assert draft.is_comparison == bool(window)
    assert (draft.present, draft.tried)[draft.is_comparison] == pytest.approx(160.5e6)
    assert (draft.present, draft.tried)[not draft.is_comparison] is None


@pytest.mark.parametrize("factor", ["record_size", "clients"])
def test_what_an_application_chooses_is_never_present(factor):
    rates = {64 * KIB: [11] * 3, 256 * KIB: [33] * 3, 1024 * KIB: [68] * 3, 4096 * KIB: [99] * 3}
    rates = rates if factor == "record_size" else {1: [20] * 3, 2: [40] * 3, 4: [80] * 3}
    drafts = [item for item in storage.overview(sweep(factor, rates).evidence(GPFS)) if item.predicted]
    assert drafts
    assert all((item.kind, item.present, item.undo) == (DIAGNOSIS, None, "") and item.tried for item in drafts)


@pytest.mark.parametrize(
    ("tool", "now", "then", "is_there"),
    [
        ("iperf3-tcp", {"window": 0, "streams": 1}, {"window": KIB, "streams": 1}, True),
        ("iperf3-tcp", {"window": KIB, "streams": 1}, {"window": 0, "streams": 1}, False),
        ("iperf3-tcp", {"window": KIB, "streams": 1}, {"window": KIB, "streams": 4}, False),
        ("iperf3-tcp", {"setting.client.x": "1", "streams": 4}, {"setting.client.x": "2", "streams": 4}, True),
        ("iperf3-tcp", {"congestion": "reno"}, {"congestion": "bbr"}, True),
        ("iperf3-tcp", {"congestion": "cubic"}, {"congestion": "bbr"}, False),
        ("gridftp", {"streams": 1, "pipelining": False}, {"streams": 1, "pipelining": True}, True),
        ("fio", {"block_size": 0}, {"block_size": KIB}, False),
        ("btio", {"ranks": 4}, {"ranks": 16}, False),
    ],
)
def test_a_setting_is_there_where_nobody_chose_it_or_the_nodes_tell_it(tool, now, then, is_there):
    assert is_present(Proof(tool, "x", now, then), evidence([], client=OWN)) == is_there


def test_what_stands_is_left_as_it_is():
    make = Maker()
    points = [make.ping(0.0048), *make.stream_sweep({1: [160, 161], 4: [640, 641], 8: [641, 640], 16: [640, 641]})]
    measurements = evidence(points)
    for draft in tcp.findings(measurements):
        assert settle(draft, measurements) == draft
