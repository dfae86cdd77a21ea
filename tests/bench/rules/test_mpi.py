"""MPI: the published cases of Tachyon and of BTIO, and what contradicts them."""

import dataclasses
import json
import math
import statistics

import pytest

from apps.bench.rules import mpi
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, RECOMMENDATION, Evidence, FileSystemFacts, Ratio, Trend
from tests.bench.rules.storing import MB, Storing

KIB, MIB = 1024, 1024**2


def drafts_of(evidence, rule):
    return {draft.subject: draft for draft in mpi.overview(evidence) if draft.rule == rule}


def one(evidence, rule):
    (draft,) = drafts_of(evidence, rule).values()
    return draft


def tachyon(same, other):
    """Return the printed ratios of Tachyon 2 to Tachyon 1."""
    return tuple(
        Ratio(
            "osu-bandwidth",
            "bandwidth",
            {"testbed": "Tachyon 2", "placement": placement},
            {"testbed": "Tachyon 1", "placement": placement},
            value,
            value,
        )
        for placement, value in (("same-socket", same), ("other-socket", other))
    )


# Placement and affinity


def test_on_tachyon_2_processes_are_to_be_bound_and_on_tachyon_1_it_matters_little():
    drafts = drafts_of(Evidence((), ratios=tachyon(5.0, 2.4)), "mpi-affinity")
    second, first = drafts["Tachyon 2"], drafts["Tachyon 1"]
    assert second.kind == RECOMMENDATION
    assert "at least ×2.08 as fast as in two: bind processes to cores" in str(second.title)
    assert "--bind-to core" in second.change
    assert "×5 as fast as Tachyon 1 within a socket, and only ×2.4 between two" in str(second.why[0])
    assert first.kind == NO_CHANGE
    assert "it matters little" in str(first.title)
    assert first.change == ""
    assert first.missing
    assert first.confidence < second.confidence


@pytest.mark.parametrize("ratios", [tachyon(2.4, 2.4), tachyon(5.0, 4.5), tachyon(5.0, 2.4)[:1]])
def test_ratios_that_are_alike_or_alone_say_nothing_of_affinity(ratios):
    assert drafts_of(Evidence((), ratios=ratios), "mpi-affinity") == {}


def test_ratios_the_other_way_round_speak_of_the_other_testbed():
    assert "bind processes" in str(
        drafts_of(Evidence((), ratios=tachyon(2.4, 5.0)), "mpi-affinity")["Tachyon 1"].title
    )


def test_a_testbeds_own_ratio_is_the_better_evidence():
    own = Ratio(
        "osu-bandwidth",
        "bandwidth",
        {"testbed": "Tachyon 1", "placement": "same-socket"},
        {"testbed": "Tachyon 1", "placement": "other-socket"},
        1.0,
        1.1,
    )
    draft = drafts_of(Evidence((), ratios=(*tachyon(5.0, 2.4), own)), "mpi-affinity")["Tachyon 1"]
    assert "hardly differ (×1.05)" in str(draft.title)
    assert draft.missing == ()


def placed(same, other, **more):
    make = Storing()
    for placement, rates in (("same-socket", same), ("other-socket", other)):
        rate = {"bandwidth": [value * MB for value in rates]}
        make.mpi("osu-bandwidth", rate, ("n1",), benchmark="osu_bw", message_size=MIB, placement=placement, **more)
    return make.evidence()


def test_measured_placements_are_compared_on_their_own_nodes():
    draft = one(placed([5000, 5050, 4950], [2400, 2410, 2390]), "mpi-affinity")
    assert (draft.kind, draft.is_comparison) == (DIAGNOSIS, True)
    assert draft.value == pytest.approx(2.08, abs=0.02)
    assert draft.tried == pytest.approx(statistics.harmonic_mean([2400, 2410, 2390]) * MB)
    assert draft.predicted == pytest.approx(statistics.harmonic_mean([5000, 5050, 4950]) * MB)
    assert (draft.proof.now["placement"], draft.proof.then["placement"]) == ("other-socket", "same-socket")
    assert one(placed([2500, 2520, 2480], [2400, 2410, 2390]), "mpi-affinity").kind == NO_CHANGE
    assert one(placed([2500, 2520, 2480], [2400, 2410, 2390]), "mpi-affinity").proof is None
    assert drafts_of(placed([5000, 1000, 3000], [2400, 2410, 2390]), "mpi-affinity") == {}


# Contention


def test_concurrent_flows_between_two_nodes_share_evenly():
    trend = Trend("mpi-contention", "aggregate", "pairs", "flat", fixed={"testbed": "Tachyon 1"})
    draft = one(Evidence((), trends=(trend,)), "mpi-contention")
    assert str(draft.title).endswith("share their bandwidth evenly: each of N gets max / N")
    assert draft.formula == "X_pair = max / N"
    rising = dataclasses.replace(trend, shape="rises")
    assert "do not fill" in str(one(Evidence((), trends=(rising,)), "mpi-contention").title)
    assert mpi.overview(Evidence(())) == []


def pairs(rates, fairness=1.0):
    make = Storing()
    for count, rate in rates.items():
        metrics = {"aggregate": [rate * MB, rate * MB], "fairness": [fairness, fairness]}
        make.mpi("mpi-contention", metrics, message_size=MIB, pairs=count)
    return make.evidence()


def test_measured_pairs_share_lose_or_do_so_unevenly():
    assert one(pairs({1: 104, 2: 107, 4: 109}), "mpi-contention").kind == NO_CHANGE
    loses = one(pairs({1: 104, 2: 107, 4: 109, 8: 89}), "mpi-contention")
    assert "lose to each other beyond 4 of them" in str(loses.title)
    assert any("Universal Scalability Law" in str(line) for line in loses.why)
    uneven = one(pairs({1: 104, 2: 107, 4: 109}, fairness=0.7), "mpi-contention")
    assert uneven.kind != NO_CHANGE
    assert any("some get much less" in str(line) for line in uneven.why)


# BTIO


def btio(of, to, low, high, metric="io_rate"):
    return Ratio("btio", metric, of, to, low, high)


def test_blocks_of_one_mebibyte_beat_half_of_it_throughout():
    ratio = btio({"file_system_block": MIB}, {"file_system_block": 512 * KIB}, 1.0, math.inf)
    draft = one(Evidence((), ratios=(ratio,)), "mpi-file-system-block")
    assert str(draft.title) == "File-system blocks of 1 MiB are better than 512 KiB for BTIO"
    assert draft.kind == RECOMMENDATION
    trend = Trend("btio", "io_rate", "file_system_block", "rises")
    assert "Large file-system blocks are better" in str(
        one(Evidence((), trends=(trend,)), "mpi-file-system-block").title
    )
    shorter = dataclasses.replace(trend, metric="io_time", shape="falls")
    assert "Large" in str(one(Evidence((), trends=(shorter,)), "mpi-file-system-block").title)
    against = dataclasses.replace(trend, shape="falls")
    assert "Small" in str(one(Evidence((), trends=(against,)), "mpi-file-system-block").title)


@pytest.mark.parametrize("ratio", [(0.98, 1.02, NO_CHANGE), (0.8, 1.3, None)])
def test_blocks_that_are_alike_or_uncertain_are_not_preferred(ratio):
    low, high, kind = ratio
    drafts = drafts_of(
        Evidence((), ratios=(btio({"file_system_block": MIB}, {"file_system_block": 512 * KIB}, low, high),)),
        "mpi-file-system-block",
    )
    assert [draft.kind for draft in drafts.values()] == ([kind] if kind else [])


def test_spreading_over_nodes_helps_class_c_and_the_place_in_a_node_is_free():
    balanced = btio(
        {"node_placement": "BAL", "problem": "C"}, {"node_placement": "UNBAL", "problem": "C"}, 1.0, math.inf
    )
    cores = Trend("btio", "io_time", "core_placement", "flat")
    evidence = Evidence((), ratios=(balanced,), trends=(cores,))
    draft = one(evidence, "mpi-node-placement")
    assert str(draft.title) == "BAL is better than UNBAL for BTIO C: deal the ranks out to the nodes that way"
    assert draft.subject == "BTIO C"
    inside = one(evidence, "mpi-core-placement")
    assert (inside.kind, str(inside.title)) == (NO_CHANGE, "Where in a node the ranks run has no effect on BTIO")
    turned = btio(balanced.to, balanced.of, 1.2, 1.4)
    assert "UNBAL is better than BAL" in str(one(Evidence((), ratios=(turned,)), "mpi-node-placement").title)


def test_of_times_the_smaller_side_is_the_better():
    slower = btio({"node_placement": "UNBAL"}, {"node_placement": "BAL"}, 1.5, 1.6, metric="io_time")
    draft = one(Evidence((), ratios=(slower,)), "mpi-node-placement")
    assert "BAL is better than UNBAL" in str(draft.title)


def runs(rates, *, factor="node_placement", problem="C", file_system="gpfs", **fixed):
    make = Storing()
    for value, values in rates.items():
        parameters = {"problem": problem, "subtype": "full", "ranks": 64, **fixed, factor: value}
        make.mpi("btio", {"io_rate": [rate * MB for rate in values]}, file_system=file_system, **parameters)
    return make.evidence(FileSystemFacts("gpfs", "gpfs", 512 * KIB))


def test_measured_placements_are_compared_and_can_be_proved():
    draft = one(runs({"BAL": [200, 202, 198], "UNBAL": [150, 151, 149]}), "mpi-node-placement")
    assert (draft.kind, draft.is_comparison) == (DIAGNOSIS, True)
    assert draft.subject == "BTIO C full gpfs -n 64"
    assert (draft.proof.now["node_placement"], draft.proof.then["node_placement"]) == ("UNBAL", "BAL")
    assert draft.confidence_label == "high"


def test_class_a_gains_nothing_from_more_processes_as_each_writes_less_than_a_block():
    trend = Trend("btio", "io_time", "ranks", "flat", fixed={"problem": "A"})
    facts = {"gpfs": FileSystemFacts("gpfs", "gpfs", 512 * KIB)}
    draft = one(Evidence((), trends=(trend,), file_systems=facts), "mpi-ranks")
    assert str(draft.title) == "Class A gains nothing from more processes: its I/O is as fast with few"
    assert "With 441 processes each writes 23.22 KiB at a time, less than a block of 512 KiB." in str(draft.why[1])
    gains = dataclasses.replace(trend, shape="falls")
    assert "gains from more" in str(one(Evidence((), trends=(gains,)), "mpi-ranks").title)
    assert draft.proposals[0].factors == {"ranks": "4, 16, 64, 256"}


def test_measured_ranks_have_a_best_number_and_a_proof():
    draft = one(runs({4: [100, 101], 16: [200, 201], 64: [390, 400]}, factor="ranks"), "mpi-ranks")
    assert (draft.kind, draft.is_comparison) == (DIAGNOSIS, True)
    assert draft.value == 64
    assert (draft.proof.now["ranks"], draft.proof.then["ranks"]) == (4, 64)
    flat = one(runs({4: [100, 101], 16: [100, 101], 64: [99, 101]}, factor="ranks", problem="A"), "mpi-ranks")
    assert flat.kind == NO_CHANGE


def test_buffers_that_cut_blocks_are_to_be_tried_otherwise():
    draft = one(runs({1_000_000: [100]}, factor="collective_size"), "mpi-collective-buffer")
    # The next multiple of the block above what was measured: of no other figure is anything known.
    assert draft.value == MIB
    assert draft.proof.then["collective_size"] == MIB
    assert "cb_buffer_size 1048576" in draft.change and not draft.undo
    assert draft.confidence_label == "low"
    assert drafts_of(runs({4 * MIB: [100]}, factor="collective_size"), "mpi-collective-buffer") == {}
    assert (
        drafts_of(runs({1_000_000: [100]}, factor="collective_size", subtype="simple"), "mpi-collective-buffer") == {}
    )


def test_all_findings_can_be_stored():
    trend = Trend("btio", "io_time", "ranks", "flat", fixed={"problem": "A"})
    make = runs({"BAL": [200, 202, 198], "UNBAL": [150, 151, 149]}, collective_size=1_000_000)
    evidence = dataclasses.replace(make, ratios=tachyon(5.0, 2.4), trends=(trend,))
    drafts = mpi.overview(evidence)
    assert {draft.rule for draft in drafts} == {
        "mpi-affinity",
        "mpi-node-placement",
        "mpi-ranks",
        "mpi-collective-buffer",
    }
    for draft in drafts:
        document = json.loads(json.dumps(draft.as_json(), allow_nan=False))
        for message in (document["title"], *document["why"], *document["limits"], *document["missing"]):
            assert message["msgid"] % message["params"]
        assert len(draft.rule) <= 50
        assert len(draft.unit) <= 10
        assert 0 < draft.confidence <= 0.95
