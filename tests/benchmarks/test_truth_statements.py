"""Judges of sentences, panels, predictions, file systems and messages; contradictions, omissions and coverage."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.truth import output, rounds
from benchmarks.truth.judging import advice, contradictions, coverage, missed
from benchmarks.truth.judging.base import FALSE, HARMFUL, TRUE, UNDECIDED, Case, quantity
from benchmarks.truth.judging.judge import judge
from benchmarks.truth.panels import PREDICTION, UDP
from benchmarks.truth.statements import Statement
from benchmarks.truth.tally import Tally
from benchmarks.truth.worlds import tcp
from benchmarks.truth.worlds.base import Cell, Setup, StatedLink, StatedNode, Trial
from benchmarks.truth.worlds.draw import world_of
from benchmarks.truth.worlds.messages import NODE, OTHER, SAME, MessagesWorld
from benchmarks.truth.worlds.noise import DRIFT, LOGNORMAL, Noise
from tests.benchmarks.oracle import HOST, QUIET, RECOMMENDED, SYSCTLS, WINDOWED, finding, network, outcome, storage


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
    assert sentence("highest-at", rises, high_at="8", low_at="1") == TRUE
    assert sentence("highest-at", rises, high_at="2", low_at="1") == FALSE
    assert sentence("highest-among", rises, high_at="2", low_at="1", rivals="4, 8") == TRUE
    assert sentence("highest-among", rises, high_at="2", low_at="1", rivals="1") == FALSE
    assert sentence("highest-among", flat, high_at="2", low_at="1", rivals="4") == FALSE
    above = {name: sentence("above-inventory", rises, ceiling=name) for name in ("500 Mbit/s", "4 Gbit/s")}
    assert above == {"500 Mbit/s": TRUE, "4 Gbit/s": FALSE}
    assert (sentence("ceiling", rises, ceiling="941 Mbit/s"), sentence("ceiling", rises, ceiling="4 Gbit/s")) == (
        TRUE,
        FALSE,
    )


def test_things_that_are_not_alike_are_not_set_against_each_other() -> None:
    assert case(WINDOWED, "sentence", "across-measurements", msgid="…", kinds=1) == TRUE
    assert case(WINDOWED, "sentence", "across-measurements", msgid="…", kinds=2) == FALSE


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


def test_chance_and_drift_are_held_against_what_the_world_has() -> None:
    lossy = replace(WINDOWED, way=replace(WINDOWED.way, loss=0.02))
    assert case(lossy, UDP, "chance", words={"share": "1.9"}) == TRUE
    assert case(lossy, UDP, "chance", words={"share": "0.1"}) == FALSE
    assert case(WINDOWED, UDP, "chance", words={"share": "1.9"}) == FALSE
    drift = finding("path-modes", "Rates fell", subject="drift", value=10.0)
    assert outcome(replace(WINDOWED, noise=Noise(DRIFT, 0.05)), drift) == TRUE
    assert outcome(WINDOWED, drift) == FALSE
    as_much = "A window of %(window)s has as much as the kernel's own"
    rates = {window: WINDOWED.reach({"streams": 1, "window": window}).rate for window in (0, 65536)}
    assert rates[65536] < 0.9 * rates[0]
    assert outcome(WINDOWED, finding("tcp-autotuning", as_much, value=65536.0)) == FALSE
    assert outcome(WINDOWED, finding("tcp-autotuning", as_much, value=0.0)) == TRUE


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
    saturates = "%(name)s saturates at %(count)s clients (%(way)s): more add nothing"
    grows = "%(name)s grows with the clients (%(way)s): let many nodes do I/O at once"
    assert outcome(world, finding("storage-clients", saturates, params=params, value=2)) == TRUE
    assert outcome(world, finding("storage-clients", saturates, params=params, value=1)) == FALSE
    assert outcome(world, finding("storage-clients", grows, params=params, value=None)) == FALSE
    disks, links = "The disks limit shared", "The network limits shared"
    assert outcome(world, finding("limiting-layer", disks, subject="shared write", value=200e6)) == TRUE
    assert outcome(world, finding("limiting-layer", links, subject="shared write", value=200e6)) == FALSE
    both = "Not decided: it is nearly all that the network carries, and nearly all that the disks give."
    assert outcome(world, finding("undecided-layer", both, subject="shared write", value=200e6)) == UNDECIDED
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
        Statement("contrast", "higher", {"ratio": 1.1, "low": 1.0, "high": 1.2, "n": 3, "confidence": 0.9}),
        Statement("contrast", "higher", {"ratio": 1.3, "low": 1.0, "high": 1.2, "n": 3, "confidence": 0.9}),
    ]
    found = list(coverage.of_contrasts(said))
    assert [item.holds for item in found] == [True, False]
    assert {item.kind for item in found} == {"the ratio's interval (90 %)"}


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


def test_messages_are_judged_by_distance_and_port() -> None:
    world = MessagesWorld(
        seed=1, noise=QUIET, repetitions=1, nodes=(StatedNode("node1", "A", None, "InfiniBand QDR"),),
        latency={SAME: 1e-9, OTHER: 1e-9, NODE: 1e-6}, bandwidth={SAME: 6e9, OTHER: 3e9, NODE: 2e9}, port=3.8e9,
        loss=0.0,
    )  # fmt: skip
    cells = [Cell({"pairs": pairs}, {}, [Trial({})]) for pairs in (1, 2, 4)]
    world = replace(world, setups=(Setup("Pairs", "mpi-contention", {}, cells, ("pairs",)),))
    binds = {"kind": "recommendation"}
    assert outcome(world, finding("mpi-affinity", value=2.0, **binds)) == TRUE
    assert outcome(world, finding("mpi-affinity", value=5.0, **binds)) == FALSE
    free = {"msgid": "%(who)s: placement is free", "params": {"metric": "latency"}}
    within = {"msgid": "With %(circumstances)s: %(said)s", "params": {"said": free}}
    far = replace(world, latency={SAME: 1e-6, OTHER: 1e-6, NODE: 1e-6})
    for title in (free, within, {**within, "params": {"said": within}}):
        assert (
            outcome(far, finding("mpi-affinity", title["msgid"], params=title["params"], is_comparison=False)) == TRUE
        )
    shared, evenly = "From %(knee)s pairs on it is shared", "Pairs share their bandwidth evenly"
    assert outcome(world, finding("mpi-contention", shared, params={"knee": "2"})) == TRUE
    assert outcome(world, finding("mpi-contention", evenly)) == FALSE
    assert outcome(world, finding("mpi-port-bound", value=0.95)) == TRUE
    assert outcome(world, finding("mpi-port-bound", "It is not believable", value=1.2)) == FALSE


def test_a_client_beside_the_servers_is_not_set_against_those_far_away() -> None:
    cells = [Cell({"clients": count}, {"write": 117.5e6 * count}, [Trial({"write": 117.5e6})]) for count in (1, 2)]
    far = Setup("Clients", "iozone", {"client": ("c1", "c2")}, cells, ("clients",))
    near = Setup("Near", "iozone", {"client": ("near1",)}, cells[:1], (), "shared")
    grows = "%(name)s grows with the clients (%(way)s): let many nodes do I/O at once"
    statement = finding("storage-clients", grows, params={"metric": "write"}, value=None)
    assert outcome(storage(setups=(far,), near="near1"), statement) == TRUE
    assert outcome(storage(setups=(far, near), near="near1"), statement) == FALSE


def test_records_that_lower_the_rate_of_a_file_system_are_harmful() -> None:
    sizes = {2**16: 50e6, 2**20: 100e6, 2**22: 150e6}
    cells = [Cell({"record_size": size}, {"write": rate}, [Trial({"write": rate})]) for size, rate in sizes.items()]
    world = storage(setups=(Setup("Records", "iozone", {}, cells, ("record_size",)),))

    def advised(now: int, then: int) -> str:
        settings = [{"clients": 1, "record_size": size, "direct": True} for size in (now, then)]
        proof = {"tool": "iozone", "metric": "write", "now": settings[0], "then": settings[1]}
        rate = world.rate("write", settings[1])
        fields = {"params": {"metric": "write"}, "value": 2**22, "predicted": rate, "proof": proof, **RECOMMENDED}
        return outcome(world, finding("storage-record-size", "Records", **fields))

    assert (advised(2**16, 2**22), advised(2**22, 2**16)) == (TRUE, HARMFUL)


def test_a_share_of_intervals_comes_with_its_error_over_the_worlds() -> None:
    tally = Tally()
    # Of one world all or none held: so many intervals are no more than so many worlds.
    tally.coverage["mean", 2, "normal"] += [(10, 10), (0, 10), (10, 10), (10, 10)]
    line = next(line for line in output.tables(tally) if line.startswith("  n = 2"))
    assert line.split() == ["n", "=", "2", "75±22", "(40)"]


@pytest.mark.django_db
def test_what_is_part_of_a_finding_is_judged_as_well() -> None:
    heard = rounds.hear(world_of(3, "network"))
    rules = Counter(item.rule for item, _found in heard.said if item.source == "finding")
    stored = [item for item, _found in heard.said if item.source == "finding" and item.fields["parts"]]
    assert stored
    for item in stored:
        assert {part["rule"] for part in item.fields["parts"]} <= rules.keys()
