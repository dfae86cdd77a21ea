"""Each judge of a finding on a path, with a statement that holds in its world and one that does not."""

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.truth.judging.base import FALSE, HARMFUL, TRUE, UNDECIDED
from benchmarks.truth.statements import Statement
from benchmarks.truth.worlds import tcp
from benchmarks.truth.worlds.base import StatedLink
from benchmarks.truth.worlds.tcp import Line, Way
from tests.benchmarks.oracle import HOST, RECOMMENDED, SYSCTLS, WINDOWED, cell, finding, network, outcome

FREE = replace(HOST, sysctls={**SYSCTLS, tcp.RMEM_MAX: "9000000", tcp.WMEM_MAX: "9000000"})
SWEPT = replace(
    network(
        *(cell(min(9.41e8, size * 800), window=size) for size in (2**19, 2**20, 2**21, 2**22)),
        client=FREE,
        factors=("window",),
    ),
    server=replace(FREE, name="server"),
)
COUNTED = network(*(cell(min(9.4e8, count * 4e8), streams=count) for count in (1, 2, 4, 8)), factors=("streams",))
HOLE = replace(
    network(cell(1e8), client=replace(HOST, mtu=9000)), way=Way((Line("A – B", 1e9, 0.01, 1500),), is_black_hole=True)
)
HOLE = replace(HOLE, server=replace(HOLE.server, mtu=9000))
APPLIES = {"params": {"streams": 1}}
LOSSY = replace(WINDOWED, way=Way((Line("A – B", 1e9, 0.01, 1500),), loss=1e-3))
SHAPED = replace(COUNTED, way=Way((Line("A – B", 1e9, 0.01, 1500),), shaper_bps=1e8))
WMEM_MAX = f"# client + server\n{tcp.WMEM_MAX}=%s\n"


@pytest.mark.parametrize(
    ("world", "right", "wrong"),
    [
        (WINDOWED, finding("tcp-bdp", value=1.25e6), finding("tcp-bdp", value=4e5)),
        (
            WINDOWED,
            finding("tcp-limit", subject="window", value=5e5, applies_when=APPLIES),
            finding("tcp-limit", subject="path", value=None, applies_when=APPLIES),
        ),
        (
            LOSSY,
            finding("tcp-limit", subject="loss", value=0.1, applies_when=APPLIES),
            finding("tcp-limit", subject="loss", value=5.0, applies_when=APPLIES),
        ),
        (SHAPED, finding("tcp-per-flow-limit", value=9.4e7), finding("tcp-per-flow-limit", value=4e8)),
        (
            SWEPT,
            finding("tcp-window-knee", value=2**21, low=2**20),
            finding("tcp-window-knee", value=2**20, low=2**19),
        ),
        (SWEPT, None, finding("tcp-window-knee", value=2**22, low=2**21)),
        (COUNTED, finding("tcp-streams", value=4), finding("tcp-streams", value=2)),
        (
            WINDOWED,
            finding("tcp-sysctl", "The kernels allow a window of already", params={"window": "488 KiB"}),
            finding("tcp-sysctl", "Larger limits gain nothing now"),
        ),
        (COUNTED, finding("tcp-buffer-maxima", low=2.5e5), finding("tcp-buffer-maxima", low=1e6)),
        (
            replace(WINDOWED, client=replace(HOST, sysctls={**SYSCTLS, tcp.SCALING: "0"})),
            finding("tcp-window-scaling"),
            None,
        ),
        (WINDOWED, None, finding("tcp-window-scaling")),
        (LOSSY, finding("tcp-congestion", "Try BBR"), None),
        (WINDOWED, None, finding("tcp-congestion", "Try BBR")),
        (HOLE, finding("tcp-path-mtu", subject="black-hole"), finding("tcp-mtu", value=9000.0)),
        (WINDOWED, None, finding("tcp-path-mtu", subject="black-hole")),
        (
            WINDOWED,
            finding("path-bottleneck", "and the measurements agree", subject="A – B", value=1e9),
            finding("path-bottleneck", "it is not what the inventory says", subject="A – B", value=1e9),
        ),
        (WINDOWED, finding("path-capacity", value=9.6e8), finding("path-capacity", value=4e8)),
        (LOSSY, finding("path-loss", value=0.12), finding("path-loss", value=2.0)),
        (WINDOWED, None, finding("path-loss", value=0.1)),
        (WINDOWED, None, finding("tcp-pacing")),
    ],
)
def test_a_finding_on_a_path_is_judged_by_the_path(
    world: Any, right: Statement | None, wrong: Statement | None
) -> None:
    assert right is None or outcome(world, right) == TRUE
    assert wrong is None or outcome(world, wrong) == FALSE


def test_what_nobody_knows_is_not_decided() -> None:
    assert outcome(WINDOWED, finding("a-new-rule")) == UNDECIDED


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (WMEM_MAX % 500000, TRUE),
        (WMEM_MAX % 400000, HARMFUL),
        (f"# server\n{tcp.RMEM}=4096 131072 2000000\n", TRUE),
        (f"# server\n{tcp.RMEM}=4096 65536 2000000\n", HARMFUL),
        ("iperf3 -c SERVER -w 100000", HARMFUL),
        ("iperf3 -c SERVER -P 2", TRUE),
        ("tc qdisc replace dev eth0 root fq maxrate 100mbit\n", HARMFUL),
    ],
)
def test_advice_that_lowers_a_limit_or_the_rate_is_harmful(change: str, expected: str) -> None:
    statement = finding("tcp-bdp", value=1.25e6, change=change, present=4e8, **RECOMMENDED)
    assert outcome(WINDOWED, statement) == expected


def test_larger_frames_are_harmful_where_they_vanish() -> None:
    world = replace(HOLE, client=replace(HOLE.client, mtu=1500), server=replace(HOLE.server, mtu=1500))
    lines = "# client\nip link set dev eth0 mtu 9000\n# server\nip link set dev eth0 mtu 9000\n"
    assert outcome(world, finding("tcp-mtu", value=1500.0, change=lines, **RECOMMENDED)) == HARMFUL


@pytest.mark.parametrize(("predicted", "expected"), [(9.4e8, TRUE), (3e9, FALSE)])
def test_a_predicted_rate_is_held_against_that_of_the_changed_setting(predicted: float, expected: str) -> None:
    proof = {"tool": "iperf3-tcp", "metric": "goodput", "now": {"streams": 1}, "then": {"streams": 4}}
    statement = finding("tcp-streams", value=4, predicted=predicted, proof=proof, **RECOMMENDED)
    assert outcome(COUNTED, statement) == expected


def test_the_best_setting_is_held_against_all_that_were_measured() -> None:
    def said(streams: int) -> str:
        then = {"window": 0, "streams": streams}
        proof = {"tool": "iperf3-tcp", "metric": "goodput", "now": {"window": 0, "streams": 1}, "then": then}
        return outcome(COUNTED, finding("tcp-best-setting", proof=proof, **RECOMMENDED))

    assert (said(4), said(2)) == (TRUE, FALSE)


def test_one_of_several_links_is_named_where_they_are_said_to_be_alike() -> None:
    lines = (Line("lan", 2e9, 2e-5, 1500), Line("A – B", 1e9, 0.01, 1500))
    world = replace(WINDOWED, way=Way(lines))
    agree = "and the measurements agree"
    for link, expected in (("A – B", TRUE), ("lan / A – B", TRUE), ("lan", FALSE), ("lan / x", UNDECIDED)):
        statement = finding("path-bottleneck", agree, subject="lan", value=1e9, params={"link": link})
        assert outcome(world, statement) == expected, link


def test_a_link_as_described_is_no_word_on_which_link_is_narrow() -> None:
    described = "of the narrowest link as described"
    told = (StatedLink("A – B", "A", "B", 4_000_000_000),)
    world = replace(WINDOWED, way=Way((Line("A – B", 1e9, 0.01, 1500),)), links=told)
    for value, rate, expected in ((4e9, "980 Mbit/s", TRUE), (1e9, "980 Mbit/s", FALSE), (4e9, "300 Mbit/s", FALSE)):
        params = {"link": "A – B", "rate": rate}
        statement = finding("path-bottleneck", described, subject="A – B", value=value, params=params)
        assert outcome(world, statement) == expected, (value, rate)
    right = replace(world, links=(StatedLink("A – B", "A", "B", 1_000_000_000),))
    params = {"link": "A – B", "rate": "880 Mbit/s"}
    assert outcome(right, finding("path-bottleneck", described, subject="A – B", value=1e9, params=params)) == FALSE


def test_so_much_or_more_is_held_against_the_most() -> None:
    for value, expected in ((2e8, TRUE), (9.6e8, TRUE), (2e9, FALSE)):
        statement = finding("path-capacity", "the path holds so much or more", value=value)
        assert outcome(WINDOWED, statement) == expected, value


def test_the_drops_of_a_policer_are_losses_where_the_finding_names_it() -> None:
    policed = Way((Line("A – B", 1e9, 0.01, 1500),), policer_bps=1e8)
    world = replace(WINDOWED, way=policed)
    said = {"subject": "loss", "value": 0.5, "applies_when": APPLIES}
    policer = [{"title": {"msgid": "A policer drops.", "params": {}}}]
    assert outcome(world, finding("tcp-limit", **said)) == FALSE
    assert outcome(world, finding("tcp-limit", alternatives=policer, **said)) == TRUE
    assert outcome(SHAPED, finding("tcp-limit", alternatives=policer, **said)) == FALSE
