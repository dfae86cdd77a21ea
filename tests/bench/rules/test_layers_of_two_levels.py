"""A layer that gave two rates has no one capacity: it is not ruled out where the lower one explains what is above."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from apps.bench.rules import layers, storage, workloads
from apps.bench.rules.base import DISK, FILE_SYSTEM, NETWORK, Evidence, FindingDraft
from apps.bench.rules.layers import judge_all, table
from apps.bench.units import format_quantity
from tests.bench.rules.storing import MB, NFS, RAID1, Storing, polarised

NOW = 1_780_000_000.0
# Credit that ends at times, with few figures and with many; the last runs or any of them.
SWINGS = (
    (250, 250, 250, 60, 60),
    (250, 250, 60),
    (60, 250, 250),
    (250, 60),
    (100, 100, 60, 60),
    (250, 60, 250, 60, 250, 60, 250, 60, 250, 60),
)
# Rules that hold a rate against what lies beneath.
COMPARING = ("limiting-layer", "undecided-layer", "storage-share-of-disk", "cache-effect", "storage-gpfs-client")


def measured(
    own: float = 58,
    disk: Sequence[float] = (250, 251, 249),
    network: Sequence[float] = (940, 941, 939),
    streams: int = 1,
    **more: Sequence[float],
) -> Evidence:
    """Return an NFS over a 1 Gbit/s WAN in MB/s, its disks in MB/s and its network in Mbit/s, each with repetitions.

    Each has an experiment of its own, one after the other: the disks, the network, NFS, and what is in `more`.
    """
    make = Storing()
    make.disk("RAID1", "PGFS01", write=[rate * MB for rate in disk])
    make.tcp("KGFS01", "PGFS01", [*network], direction="forward", streams=streams)
    make.io("NFS_PGFS01", write=[own * MB, own * 1.01 * MB, own * 0.99 * MB])
    for layer, rates in more.items():
        if layer == "disk_again":
            make.disk("RAID1", "PGFS01", write=[rate * MB for rate in rates])
        else:
            make.tcp("KGFS01", "PGFS01", [*rates], direction="forward", streams=streams)
    return make.evidence(NFS, RAID1)


def in_order(evidence: Evidence) -> Evidence:
    """Return the points as of experiments of their own, in the order of their trials."""
    points = sorted(evidence.points, key=lambda point: min(min(own) for own in point.metrics.values()))
    dated = [replace(own, experiment=1 + i, campaign=1, at=NOW + 600 * i) for i, own in enumerate(points)]
    return replace(evidence, points=tuple(dated))


def drafts(evidence: Evidence) -> list[FindingDraft]:
    return [*layers.overview(evidence), *storage.overview(evidence), *workloads.overview(evidence)]


def text_of(evidence: Evidence) -> str:
    """Return all that is said of the layers, on pages and in findings."""
    tables = [
        (str(own.verdict), *map(str, own.missing), *(str(row.note) for row in own.rows)) for own in table(evidence)
    ]
    return json.dumps([[draft.as_json() for draft in drafts(evidence)], tables])


@pytest.mark.parametrize("swing", SWINGS)
@pytest.mark.parametrize("layer", [DISK, NETWORK])
def test_a_layer_of_two_levels_is_ruled_out_by_neither_rule(layer: str, swing: tuple[float, ...]) -> None:
    figures = {"disk": swing} if layer == DISK else {"network": [8 * rate for rate in swing], "disk": (900, 901, 899)}
    evidence = measured(0.97 * min(swing), **figures)
    (verdict,) = judge_all(evidence)
    assert (verdict.layer, verdict.swinging and verdict.swinging.layer) == ("", layer)
    (own,) = [draft for draft in drafts(evidence) if draft.rule == "undecided-layer"]
    low, high = (format_quantity(rate * MB, "B/s") for rate in (min(swing), max(swing)))
    assert f"{low} in some runs and {high} in others" in str(own.title)
    assert any("right after the file system" in str(line) for line in own.missing)
    assert own.proposals
    assert any(f"Two levels: {low}" in str(row.note) for row in table(evidence)[0].rows)


@pytest.mark.parametrize("swing", SWINGS)
@pytest.mark.parametrize("own", [10, 30, 57, 90, 130])
def test_no_finding_gives_the_mean_of_two_levels_for_what_disks_give(own: float, swing: tuple[float, ...]) -> None:
    mean = len(swing) / sum(1 / rate for rate in swing)
    evidence = measured(own, disk=swing)
    assert format_quantity(mean * MB, "B/s") not in text_of(evidence)
    for draft in drafts(evidence):
        assert draft.rule not in COMPARING or draft.predicted != pytest.approx(mean * MB)


def test_where_the_lower_level_leaves_room_the_layer_is_ruled_out() -> None:
    for figures in ({"disk": SWINGS[0]}, {"network": [8 * rate for rate in SWINGS[0]]}):
        (verdict,) = judge_all(measured(10, **figures))
        assert verdict.layer == FILE_SYSTEM


@pytest.mark.parametrize("even", [(60, 61, 59), (60, 66), (55, 60, 65, 70), (60, 62, 80), (250,)])
def test_scatter_and_one_figure_are_one_level(even: tuple[float, ...]) -> None:
    (verdict,) = judge_all(measured(10, disk=even))
    assert verdict.disk is not None and verdict.disk.swing is None
    assert verdict.layer == FILE_SYSTEM


def test_no_cache_is_told_of_a_rate_that_the_upper_level_gives() -> None:
    evidence = measured(100, disk=(110, 110, 50, 50, 110, 50, 110, 50, 110, 50))
    assert "cache-effect" not in [draft.rule for draft in drafts(evidence)]
    assert judge_all(evidence)[0].layer == ""


def test_settings_show_together_what_none_of_them_shows_alone() -> None:
    """A sweep of records on disks whose credit ends: the best of them met the upper level only."""
    make = Storing()
    for place, rates in enumerate(([250, 251], [249, 60], [248, 61], [250, 59], [60, 248])):
        own = {"file_size": 2**32, "record_size": 2 ** (18 + place)}
        make.point(
            DISK, {"write": [rate * MB for rate in rates]}, file_system="RAID1", roles={"client": ("PGFS01",)}, **own
        )
    make.io("NFS_PGFS01", write=[58 * MB] * 3)
    make.tcp("KGFS01", "PGFS01", [940, 941, 939], direction="forward", streams=1)
    (verdict,) = judge_all(make.evidence(NFS, RAID1))
    assert verdict.layer == "" and verdict.swinging is not None


def test_disks_are_held_against_what_they_gave_with_the_same_records() -> None:
    """With other records they gave more: these are settings, no runs; what they gave with its own is the limit."""
    make = Storing().disk("RAID1", "PGFS01", write=[60 * MB, 61 * MB, 59 * MB])
    for place, rate in ((12, 3), (24, 250)):
        own = {"file_size": 2**32, "record_size": 2**place}
        rates = {"write": [rate * part * MB for part in (0.99, 1, 1.01)]}
        make.point(DISK, rates, file_system="RAID1", roles={"client": ("PGFS01",)}, **own)
    make.io("NFS_PGFS01", write=[58 * MB] * 3)
    make.tcp("KGFS01", "PGFS01", [940, 941, 939], direction="forward", streams=1)
    evidence = make.evidence(NFS, RAID1)
    assert judge_all(evidence)[0].layer == DISK
    assert "in some runs" not in text_of(evidence)


def test_what_was_measured_before_is_ruled_out_only_if_it_still_gives_as_much() -> None:
    evidence = measured(40, disk=(100, 101, 99))
    unknown, known = evidence, in_order(evidence)
    (sure,), (doubted,) = ([d for d in drafts(each) if d.rule == "limiting-layer"] for each in (unknown, known))
    assert ", if what lies beneath gave as much meanwhile" in str(doubted.title)
    assert ", if " not in str(sure.title)
    assert doubted.confidence <= 0.6 <= sure.confidence
    lines = [str(line) for line in doubted.against]
    assert any("disks alone were measured before this, not in turn" in line for line in lines)
    assert any("network alone was measured before this, not in turn" in line for line in lines)
    assert sum("right after the file system" in str(line) for line in doubted.missing) == 2
    (share,) = [d for d in drafts(known) if d.rule == "storage-share-of-disk"]
    assert "alone at another time" in str(share.title) and share.confidence <= 0.6
    assert not any("itself takes" in str(line) for line in share.why)
    assert any("right after the file system" in str(line) for line in share.missing)


def test_no_fault_is_placed_inside_but_on_the_same_condition() -> None:
    """Two modes of a file system are of its disks as well where these have credit at times."""
    printed = polarised()
    own = [
        replace(point, experiment=1 + place, campaign=1, at=NOW + 600 * place)
        for place, point in enumerate(sorted(printed.points, key=lambda point: point.layer == FILE_SYSTEM))
    ]
    for evidence, is_sure in ((printed, True), (replace(printed, points=tuple(own)), False)):
        (draft,) = [d for d in drafts(evidence) if d.rule == "limiting-layer"]
        assert str(draft.title).startswith("The fault is inside GPFS_PDAISY")
        assert (", if what lies beneath gave as much" not in str(draft.title)) is is_sure
        assert (draft.confidence > 0.6) is is_sure


def test_what_was_measured_before_and_after_with_one_result_is_ruled_out() -> None:
    evidence = in_order(measured(disk_again=(249, 250, 251), network_again=(940, 939, 941)))
    (own,) = [d for d in drafts(evidence) if d.rule == "limiting-layer"]
    assert ", if " not in str(own.title)
    assert not any("not in turn" in str(line) for line in own.against)
    assert not any("right after the file system" in str(line) for line in own.missing)


def test_what_disks_give_right_after_decides() -> None:
    evidence = in_order(measured(disk_again=(60, 61, 59)))
    (own,) = [d for d in drafts(evidence) if d.rule == "limiting-layer"]
    assert str(own.title).startswith("The disks are the limit of NFS_PGFS01")
    assert any("had 250.0 MB/s before this and 59.99 MB/s after it" in str(line) for line in own.against)


def test_a_network_that_was_measured_again_with_another_result_has_two_levels() -> None:
    evidence = measured(55, network_again=(460, 461, 459), disk=(900, 901, 899))
    (verdict,) = judge_all(evidence)
    assert (verdict.layer, verdict.swinging and verdict.swinging.layer) == ("", NETWORK)
