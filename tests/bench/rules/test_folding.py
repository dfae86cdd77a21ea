"""Of what is proposed for one question one finding is told: now, do this, gain; the rest beside it."""

import dataclasses
import json

import pytest

from apps.bench.rules import folding, gridftp, path, storage, tcp
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION, FileSystemFacts
from tests.bench.rules.cases import KIB, Maker, evidence
from tests.bench.rules.storing import MB, Storing
from tests.bench.rules.test_storage_options import nfs

RATES = {64: [140, 141], 128: [279, 280], 256: [533, 534], 512: [900, 902], 1024: [941, 942], 2048: [942, 941]}


@pytest.fixture
def make():
    return Maker()


def proposals(drafts):
    return [draft for draft in drafts if draft.kind == RECOMMENDATION]


def slow_path(make, *more):
    """Return a path whose automatic window is the limit, with larger ones and several streams beside it."""
    windows = make.window_sweep(RATES)
    streams = make.stream_sweep({1: [160, 161], 2: [320, 321], 4: [640, 641], 8: [700, 701], 16: [701, 700]})
    return evidence([make.ping(0.0048), *windows, *streams, *more])


def drafts_on(measurements):
    return [*tcp.findings(measurements), *path.findings(measurements), *gridftp.findings(measurements)]


def test_one_path_has_one_proposal_with_the_others_as_its_parts(make):
    measurements = slow_path(make)
    drafts = drafts_on(measurements)
    assert len(proposals(drafts)) > 2
    (lead,) = proposals(folding.fold_ends(drafts, measurements))
    assert {lead.rule, *(part.rule for part in lead.parts)} == {draft.rule for draft in proposals(drafts)}
    assert lead.change
    # What is no proposal stays as it is.
    others = [draft.rule for draft in drafts if draft.kind != RECOMMENDATION]
    assert [
        draft.rule for draft in folding.fold_ends(drafts, measurements) if draft is not lead and not draft.parts
    ] == others
    gains = [part.predicted / part.present for part in lead.parts if part.predicted and part.present]
    assert lead.predicted / lead.present >= folding.ALIKE * max(gains)


def test_what_is_said_of_the_parts_stands_in_the_finding(make):
    measurements = slow_path(make)
    (lead,) = proposals(folding.fold_ends(drafts_on(measurements), measurements))
    data = json.loads(json.dumps(lead.as_json()))
    assert [part["title"]["msgid"] for part in data["parts"]] == [part.title.msgid for part in lead.parts]
    assert {trial for part in lead.parts for trial in part.evidence} <= set(lead.trials)
    # Numbers of trials stand at one place, where whoever copies a campaign gives them others.
    assert not any(part["evidence"] for part in data["parts"])
    titles = [line["params"]["title"] for line in data["why"] if "title" in line["params"]]
    assert titles == [part["title"] for part in data["parts"]]


def test_a_better_setting_that_was_measured_takes_the_lead(make):
    # Four streams are the best of their sweep; two with a large window, which stand alone, had more.
    streams = make.stream_sweep({1: [160, 161], 2: [300, 302], 4: [398, 400], 8: [401, 399]})
    wide = make.tcp([900e6, 902e6, 901e6], window=4096 * KIB, streams=2, observed=10**9)
    measurements = evidence([make.ping(0.0048), *streams, wide])
    before = proposals(drafts_on(measurements))
    assert max(draft.predicted or 0 for draft in before) < 500e6
    (lead,) = proposals(folding.fold_ends(drafts_on(measurements), measurements))
    assert lead.rule == "tcp-best-setting"
    assert lead.predicted == pytest.approx(901e6)
    assert lead.change == f"iperf3 -c SERVER -w {4096 * KIB} -P 2\n"
    assert {draft.rule for draft in before} == {part.rule for part in lead.parts}
    # It is said of what was measured, not of the path: so it is also where a processor held it.
    flag = {"processor-full": frozenset(wide.trials("goodput"))}
    busy = dataclasses.replace(wide, warnings=frozenset(flag), flagged=flag)
    measurements = evidence([make.ping(0.0048), *streams, busy])
    assert [draft.rule for draft in proposals(folding.fold_ends(drafts_on(measurements), measurements))] == [
        "tcp-best-setting"
    ]
    # One that was hardly better, and so perhaps by chance, does not.
    near = make.tcp([405e6, 400e6], window=4096 * KIB, streams=2, observed=10**9)
    measurements = evidence([make.ping(0.0048), *streams, near])
    assert {draft.rule for draft in proposals(folding.fold_ends(drafts_on(measurements), measurements))} != {
        "tcp-best-setting"
    }


@pytest.mark.parametrize("standing", [folding.LEADS, folding.APART])
def test_what_was_decided_of_a_proposal_is_kept(make, standing):
    measurements = slow_path(make)
    drafts = drafts_on(measurements)
    (first,) = proposals(folding.fold_ends(drafts, measurements))
    rule = first.parts[-1].rule
    listed = proposals(
        folding.fold_ends(drafts, measurements, lambda draft: standing if draft.rule == rule else folding.OPEN)
    )
    if standing == folding.LEADS:
        assert [draft.rule for draft in listed] == [rule]
    else:
        assert {draft.rule for draft in listed} == {first.rule, rule}
        assert rule not in {part.rule for draft in listed for part in draft.parts}


def test_two_proposals_that_somebody_holds_to_both_stay(make):
    measurements = slow_path(make)
    drafts = drafts_on(measurements)
    (first,) = proposals(folding.fold_ends(drafts, measurements))
    pair = {first.rule, first.parts[-1].rule}
    listed = proposals(
        folding.fold_ends(drafts, measurements, lambda draft: folding.LEADS if draft.rule in pair else folding.OPEN)
    )
    assert {draft.rule for draft in listed} == pair
    assert {part.rule for draft in listed for part in draft.parts} == {part.rule for part in first.parts[:-1]}


def test_each_file_system_has_one_proposal():
    facts = FileSystemFacts("fs", "nfs", None, ("S",), {"wsize": 65536, "rsize": 65536, "mount": "/mnt/fs"})
    make = nfs({})
    drafts = storage.overview(make.evidence(facts))
    assert {draft.rule for draft in proposals(drafts)} == {"storage-connections", "storage-nfs-transfer"}
    (lead,) = proposals(folding.fold(drafts))
    assert lead.rule == "storage-connections"
    assert [part.rule for part in lead.parts] == ["storage-nfs-transfer"]
    elsewhere = [dataclasses.replace(draft, question="files other") for draft in proposals(drafts)]
    other = [*elsewhere, *proposals(drafts)]
    assert len(proposals(folding.fold(other))) == 2


def test_proposals_of_no_question_stand_by_themselves():
    make = Storing().io("fs", write=[30 * MB] * 3)
    draft = next(iter(storage.overview(make.evidence(FileSystemFacts("fs", "nfs", None, ("S",), {"wsize": 65536})))))
    plain = dataclasses.replace(draft, question="")
    assert folding.fold([plain, plain]) == [plain, plain]
    unchanged = dataclasses.replace(draft, kind=NO_CHANGE)
    assert folding.fold([unchanged, unchanged]) == [unchanged, unchanged]
