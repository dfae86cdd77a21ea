"""GridFTP: the options as one command line, and what parallel streams gain."""

import math
import statistics

import pytest

from apps.bench.rules import gridftp
from apps.bench.rules.base import DIAGNOSIS, DOUBT, NO_CHANGE, RECOMMENDATION, Evidence, Ratio
from tests.bench.rules import cases
from tests.bench.rules.cases import KIB, LINKS, Maker, evidence

WINDOW = 1_048_576
TUNED = {"streams": 1, "window": WINDOW}


@pytest.fixture
def make():
    return Maker()


def transfers(make, rates, **parameters):
    """Return points of {(streams, window in KiB): rates in MB/s}."""
    tool = cases.tools.get("gridftp")
    return [
        make.point(
            tool,
            {"streams": streams, "window": window * KIB, **parameters},
            *({"throughput": rate * 1e6} for rate in values),
        )
        for (streams, window), values in rates.items()
    ]


def by_rule(measurements):
    return {draft.rule: draft for draft in gridftp.findings(measurements)}


def reasons_of(draft):
    return " ".join(str(line) for line in draft.why)


def test_the_recorded_transfers_need_no_option_where_the_kernel_tunes(make):
    draft = by_rule(evidence(cases.gridftp(make)))["gridftp-options"]
    # Each of them was measured once.
    assert (draft.kind, draft.change, draft.confidence_label) == (DOUBT, "", "low")
    assert str(draft.title).startswith("n = 1, not enough to tell: ")
    assert draft.predicted == pytest.approx(121.9e6, rel=1e-3)
    assert "1 MiB 121.9 MB/s" in reasons_of(draft)
    assert len(draft.evidence) == 14


def test_the_recorded_small_windows_need_eight_streams(make):
    small = [point for point in cases.gridftp(make) if point.parameters["window"] == 64 * KIB]
    drafts = by_rule(evidence(small))
    draft = drafts["gridftp-options"]
    assert (draft.kind, draft.is_comparison, draft.undo) == (DIAGNOSIS, True, "")
    assert "Without options nothing was measured" in reasons_of(draft)
    assert draft.change == "globus-url-copy -vb -p 8 -tcp-bs 65536 SOURCE DESTINATION\n"
    assert "94 % of what TCP can have of the path" in reasons_of(draft)
    assert draft.proof.then["streams"] == 8
    # One window says nothing of a tuned one.
    assert "gridftp-parallel" not in drafts


def test_the_recorded_tuned_streams_gain_nothing_as_the_path_is_full(make):
    draft = by_rule(evidence(cases.gridftp(make)))["gridftp-parallel"]
    assert draft.kind == DOUBT
    assert draft.value == pytest.approx(1.02, abs=0.01)
    assert "come close to one stream with it" in reasons_of(draft)


def test_all_options_stand_on_one_line(make):
    plain = transfers(make, {(1, 0): [20, 20]}, files=100)
    best = transfers(
        make, {(4, 1024): [90, 91]}, files=100, concurrency=8, pipelining=True, data_nodes=2, block_size=KIB * KIB
    )
    draft = by_rule(evidence([*plain, *best]))["gridftp-options"]
    command = "globus-url-copy -vb -p 4 -tcp-bs 1048576 -bs 1048576 -cc 8 -pp -stripe SOURCE DESTINATION\n"
    assert draft.change == command
    assert (draft.present, draft.predicted) == (20e6, pytest.approx(statistics.harmonic_mean([90e6, 91e6])))
    assert "×4.5" in reasons_of(draft)


def test_of_choices_as_good_the_cheapest_is_taken(make):
    draft = by_rule(evidence(transfers(make, {(1, 0): [50, 51], (4, 0): [99, 99], (8, 0): [101, 100]})))
    assert draft["gridftp-options"].change.split()[2:4] == ["-p", "4"]


def test_where_the_largest_did_best_more_is_to_be_tried(make):
    draft = by_rule(evidence(transfers(make, {(1, 64): [17], (2, 64): [35], (4, 64): [66]})))["gridftp-options"]
    assert dict(draft.proposals[0].factors) == {"streams": "4, 8"}
    assert draft.proposals[0].fixed["window"] == "64KiB"
    assert draft.missing


@pytest.mark.parametrize("rates", [{(4, 0): [100, 100]}, {(1, 0): [50, 52], (4, 0): [60, 140]}, {}])
def test_one_choice_or_repetitions_that_contradict_give_no_line(make, rates):
    assert gridftp.findings(evidence(transfers(make, rates))) == []


def test_a_rate_that_the_path_cannot_carry_is_no_best(make):
    points = [make.ping(0.0048), make.tcp([985e6]), *transfers(make, {(1, 0): [100], (2, 0): [104], (4, 0): [160]})]
    draft = by_rule(evidence(points, LINKS))["gridftp-options"]
    assert (draft.kind, draft.change) == (DOUBT, "")


def test_files_of_different_size_are_not_compared(make):
    points = [*transfers(make, {(1, 0): [50]}, size=10**6), *transfers(make, {(4, 0): [100]}, size=10**9)]
    assert gridftp.findings(evidence(points)) == []


def printed_ratios(tuned=1.25, untuned=0.9):
    """Return what the GridFTP paper prints: ratios without figures."""
    several = {"streams": 16, "window": WINDOW}
    ratios = [Ratio("gridftp", "throughput", several, TUNED, tuned, math.inf if tuned >= 1.05 else 1.04)]
    ratios += [Ratio("gridftp", "throughput", {"streams": 16, "window": 0}, TUNED, untuned, 1.1)] if untuned else []
    return Evidence((), LINKS, ratios=tuple(ratios))


def test_gridftp_streams_case_parallel_gains_a_quarter_over_one_tuned_stream():
    draft = by_rule(printed_ratios())["gridftp-parallel"]
    assert draft.kind == RECOMMENDATION
    assert (draft.value, draft.low, draft.high) == (1.25, 1.25, None)
    assert "25 % or more" in str(draft.title)
    assert "×1.25 or more" in reasons_of(draft)
    assert "Streams without a tuned window come close to one stream with it (×0.99)" in reasons_of(draft)
    # Of how many streams it is nobody says: no number is advised, the experiment finds it.
    assert "several" in str(draft.title)
    assert (draft.change, draft.proof) == ("", None)
    assert draft.missing
    assert dict(draft.proposals[0].factors) == {"streams": "1, 2, 4, 8"}
    # Why: a shallow queue makes 1.33 of it; a window still too small, or a processor, are the others.
    assert "1.33" in draft.formula
    assert ["window" in str(item.title) for item in draft.alternatives] == [True, False]
    assert all(item.proposal for item in draft.alternatives)


def test_gridftp_streams_case_without_its_ratios_says_nothing():
    assert gridftp.findings(Evidence((), LINKS)) == []
    only_untuned = Evidence((), LINKS, ratios=printed_ratios().ratios[1:])
    assert gridftp.findings(only_untuned) == []


def test_gridftp_streams_case_contradicted_says_the_opposite():
    draft = by_rule(printed_ratios(tuned=0.98))["gridftp-parallel"]
    assert draft.kind == NO_CHANGE
    assert draft.change == ""
    assert "come close" not in reasons_of(by_rule(printed_ratios(untuned=None))["gridftp-parallel"])


def test_measured_streams_that_gain_more_than_chance_are_named(make):
    rates = {(1, 256): [40, 41, 40], (1, 1024): [80, 81, 82], (4, 1024): [104, 105, 103], (4, 256): [78, 80, 81]}
    draft = by_rule(evidence(transfers(make, rates)))["gridftp-parallel"]
    # A tuned window is there only where somebody chose it.
    assert (draft.kind, draft.is_comparison, draft.undo) == (DIAGNOSIS, True, "")
    assert draft.value == pytest.approx(1.28, abs=0.03)
    assert draft.change.split()[2:] == ["-p", "4", "-tcp-bs", "1048576", "SOURCE", "DESTINATION"]
    assert draft.predicted == pytest.approx(statistics.harmonic_mean([104e6, 105e6, 103e6]))
    assert "come close" in reasons_of(draft)


def test_a_gain_that_chance_could_have_made_is_no_word_either_way(make):
    rates = {(1, 256): [40, 41, 40], (1, 1024): [80, 100, 82], (4, 1024): [95, 105, 85]}
    assert "gridftp-parallel" not in by_rule(evidence(transfers(make, rates)))
