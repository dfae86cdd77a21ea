"""Each judge with a statement that holds in its world and one that does not."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.truth.asking import FINDING, Statement
from benchmarks.truth.judging import advice, contradictions, coverage, missed
from benchmarks.truth.judging.base import FALSE, HARMFUL, TRUE, UNDECIDED, Case, quantity
from benchmarks.truth.judging.judge import judge
from benchmarks.truth.panels import PREDICTION, UDP
from benchmarks.truth.worlds import tcp
from benchmarks.truth.worlds.base import Cell, Setup, StatedLink, Trial
from benchmarks.truth.worlds.network import NetworkWorld
from benchmarks.truth.worlds.noise import LOGNORMAL, NORMAL, Noise
from benchmarks.truth.worlds.tcp import Host, Line, Way
from tests.benchmarks.test_truth_simulation import HOST, SYSCTLS, storage

QUIET = Noise(NORMAL, 0.01)


def cell(goodput: float, **parameters: Any) -> Cell:
    return Cell(parameters, {"goodput": goodput}, [Trial({"goodput": goodput})] * 3)


def network(*cells: Cell, way: Way | None = None, client: Host = HOST, **fields: Any) -> NetworkWorld:
    """Return a path of 1 Gbit/s and 10 ms whose hosts' windows allow 400 Mbit/s, with a TCP experiment."""
    setup = Setup(
        "TCP", "iperf3-tcp", {"client": ("client",), "server": ("server",)}, cells, fields.pop("factors", ())
    )
    return NetworkWorld(
        seed=1, noise=QUIET, repetitions=3, nodes=(), setups=(setup, *fields.pop("setups", ())), client=client,
        server=replace(HOST, name="server"), way=way or Way((Line("A – B", 1e9, 0.01, 1500),)), **fields,
    )  # fmt: skip


def finding(rule: str, title: str = "", **fields: Any) -> Statement:
    params = fields.pop("params", {})
    told = {"kind": "diagnosis", "why": [], "title": {"msgid": title, "params": params}, **fields}
    return Statement(FINDING, rule, told, trials=tuple(range(100)))


def outcome(world: Any, statement: Statement) -> str:
    cells = [(setup, item, item.trials[0]) for setup in world.setups for item in setup.cells]
    stored = SimpleNamespace(trials=dict(enumerate(cells)))
    return judge(world, stored, statement).outcome


WINDOWED = network(cell(4e8, window=0, streams=1))
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
RECOMMENDED = {"kind": "recommendation"}
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
        ("-w 100000", HARMFUL),
        ("-P 2", TRUE),
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


def case(world: Any, source: str, rule: str, **fields: Any) -> str:
    return judge(world, SimpleNamespace(trials={}), Statement(source, rule, fields)).outcome


def sentence(rule: str, truth: Mapping[Any, float], **words: Any) -> str:
    places = {str(place): place for place in truth}
    return case(WINDOWED, "sentence", rule, words=words, places=places, truth=truth)


def test_sentences_are_held_against_the_true_rates() -> None:
    rises, flat = {1: 1e8, 2: 2e8, 4: 4e8, 8: 4e8}, {1: 4e8, 2: 4e8, 4: 4e8}
    assert sentence("levels-off", rises, at="4", plateau="400 Mbit/s") == TRUE
    assert sentence("levels-off", rises, at="2", plateau="400 Mbit/s") == FALSE
    assert sentence("levels-off", flat, at="1", plateau="400 Mbit/s") == FALSE
    assert (sentence("grows", rises), sentence("grows", flat)) == (TRUE, FALSE)
    assert (sentence("falls", {1: 2e8, 2: 1e8}), sentence("falls", rises)) == (TRUE, FALSE)
    assert (sentence("flat", flat), sentence("flat", rises)) == (TRUE, FALSE)
    assert sentence("best-at", rises, high_at="8", low_at="1") == TRUE
    assert sentence("best-at", rises, high_at="2", low_at="1") == FALSE
    assert (sentence("significant", rises), sentence("significant", flat)) == (TRUE, FALSE)
    assert (sentence("ceiling", rises, ceiling="941 Mbit/s"), sentence("ceiling", rises, ceiling="4 Gbit/s")) == (
        TRUE,
        FALSE,
    )


def test_contrasts_are_held_against_the_true_ratio() -> None:
    assert case(WINDOWED, "contrast", "higher", ratio=1.1) == TRUE
    assert case(WINDOWED, "contrast", "higher", ratio=1.0) == FALSE
    assert case(WINDOWED, "contrast", "lower", ratio=1.1) == FALSE


def test_the_panel_of_datagrams_is_held_against_the_path() -> None:
    drained = replace(WINDOWED, drain_bps=3e8)
    for rule, right, wrong in (
        ("capacity", "950 Mbit/s", "300 Mbit/s"),
        ("all-lossy", "1 Gbit/s", "100 Mbit/s"),
        ("none-lossy", "900 Mbit/s", "2 Gbit/s"),
        ("full-link", "950 Mbit/s", "300 Mbit/s"),
    ):
        assert case(WINDOWED, UDP, rule, words={"rate": right}) == TRUE
        assert case(WINDOWED, UDP, rule, words={"rate": wrong}) == FALSE
    assert case(drained, UDP, "full-link", words={"rate": "300 Mbit/s"}) == FALSE
    assert case(drained, UDP, "knee", words={"plateau": "300 Mbit/s"}) == TRUE
    assert case(WINDOWED, UDP, "knee", words={"plateau": "300 Mbit/s"}) == FALSE
    assert (case(drained, UDP, "excess"), case(WINDOWED, UDP, "excess")) == (TRUE, FALSE)


def test_predictions_are_held_against_the_setting_asked_for() -> None:
    asked = {"parameters": {"streams": 2}, "metric": "goodput"}
    assert case(WINDOWED, PREDICTION, "streams between", value=8e8, low=7e8, high=9e8, **asked) == TRUE
    assert case(WINDOWED, PREDICTION, "streams between", value=4e8, low=3e8, high=5e8, **asked) == FALSE


def test_file_systems_are_judged_by_their_parts() -> None:
    rates = {1: 117.5e6, 2: 200e6, 4: 200e6}
    cells = [
        Cell({"clients": count}, {"write": rate, "read": rate}, [Trial({"write": rate, "read": rate})])
        for count, rate in rates.items()
    ]
    world = storage(setups=(Setup("Clients", "iozone", {}, cells, ("clients",)),))
    params = {"metric": "write", "name": "shared", "count": "2"}
    saturates = "%(name)s saturates at %(count)s clients (%(metric)s): more add nothing"
    grows = "%(name)s grows with the clients (%(metric)s): let many nodes do I/O at once"
    assert outcome(world, finding("storage-clients", saturates, params=params, value=2)) == TRUE
    assert outcome(world, finding("storage-clients", saturates, params=params, value=1)) == FALSE
    assert outcome(world, finding("storage-clients", grows, params=params, value=None)) == FALSE
    disks, links = "The disks limit shared", "The network limits shared"
    assert outcome(world, finding("limiting-layer", disks, subject="shared write", value=200e6)) == TRUE
    assert outcome(world, finding("limiting-layer", links, subject="shared write", value=200e6)) == FALSE
    assert outcome(world, finding("cache-effect", "A cache", value=1.0)) == FALSE
    assert outcome(replace(world, traits=("cached",)), finding("cache-effect", "A cache", value=1.0)) == TRUE
    share = finding("storage-share-of-disk", "It reaches", subject="shared write", value=1.0)
    assert outcome(world, share) == TRUE
    assert outcome(world, replace(share, fields={**share.fields, "value": 2.0})) == FALSE


def test_quantities_are_read_by_their_units() -> None:
    assert quantity("1.5 Gbit/s") == 1.5e9
    assert quantity("10 MB/s") == 10e6
    assert quantity("64 KiB") == 65536
    assert quantity("4.8 ms") == pytest.approx(0.0048)
    assert (quantity("many"), quantity(None), quantity(3)) == (None, None, 3.0)


def test_two_values_of_one_thing_contradict_each_other() -> None:
    told = [finding("tcp-bdp", value=1e6), finding("tcp-bdp", value=2e6)]
    assert [name for name, _why in contradictions.between(WINDOWED, told)] == ["two BDPs"]
    assert not list(contradictions.between(WINDOWED, told[:1]))


def test_advice_contradicts_advice() -> None:
    told = [
        finding("tcp-limit", subject="path"),
        finding("tcp-streams", **RECOMMENDED),
    ]
    assert [name for name, _why in contradictions.between(WINDOWED, told)] == ["the path is full / more streams"]
    assert not list(contradictions.between(WINDOWED, told[1:]))


def test_a_conclusion_is_missed_where_the_evidence_suffices() -> None:
    observed = {"tcp": {"receiver_window_limited": 0.9}}
    seen = Cell({"window": 0}, {"goodput": 2e8}, [Trial({"goodput": 2e8}, observed=observed)] * 3)
    slow = replace(HOST, sysctls={**SYSCTLS, tcp.RMEM: "4096 131072 500000"})
    ping = Setup("RTT", "ping", {}, [Cell({}, {"rtt_min": 0.01}, [])])
    world = replace(
        network(seen, setups=(ping,), links=(StatedLink("A – B", "A", "B", 10**9),)),
        server=replace(slow, name="server"),
    )
    assert list(missed.expected(world, [])) == [("the window is the limit", False)]
    assert list(missed.expected(world, [finding("tcp-limit", subject="window")])) == [
        ("the window is the limit", True)
    ]
    assert not list(missed.expected(replace(world, repetitions=1), []))


def test_intervals_of_ratios_are_counted_by_whether_they_hold_the_truth() -> None:
    said = [
        Statement("contrast", "higher", {"ratio": 1.1, "low": 1.0, "high": 1.2, "n": 3}),
        Statement("contrast", "higher", {"ratio": 1.3, "low": 1.0, "high": 1.2, "n": 3}),
    ]
    assert [item.holds for item in coverage.of_contrasts(said)] == [True, False]


def test_the_harmonic_mean_of_noise_lies_below_one() -> None:
    assert coverage.harmonic(Noise(LOGNORMAL, 0.2)) == pytest.approx(1 / 1.04, rel=0.01)


def test_lines_to_paste_are_read_as_settings() -> None:
    text = f"# client + server\ncat > /etc/x <<'END'\n# more\n{tcp.RMEM}=4096 131072 9\nEND\nsysctl -p /etc/x\n"
    found = advice.changes_of(text)
    assert found == {f"setting.{role}.{tcp.RMEM}": "4096 131072 9" for role in ("client", "server")}
    assert advice.worse(judged(TRUE), judged(HARMFUL)).outcome == HARMFUL
    assert advice.worse(judged(FALSE), judged(TRUE)).outcome == FALSE
    assert Case(WINDOWED, SimpleNamespace(trials={}), finding("x")).cells() == []


def judged(name: str) -> Any:
    return SimpleNamespace(outcome=name)
