"""What another campaign measured is told with its day; months apart nothing rests on it, whichever layer it is."""

from dataclasses import replace

import pytest

from apps.bench.rules import layers, storage
from apps.bench.rules.base import DISK, FILE_SYSTEM, NETWORK, Evidence, FindingDraft
from apps.bench.rules.layers import judge_all, table
from apps.bench.units.days import SECONDS
from tests.bench.rules.storing import MB, NFS, RAID1, Storing

NOW = 1_780_000_000.0
LAYERS = (NETWORK, DISK, FILE_SYSTEM)
# Rules that compare a rate with what lies beneath it.
COMPARING = ("limiting-layer", "storage-share-of-disk", "cache-effect")


def measured(ago: dict[str, float], *, rate: float = 50, network: float = 940, disk: float = 300) -> Evidence:
    """Return an NFS over a 1 Gbit/s WAN; {layer: days ago} was each in a campaign of its own, the others in one."""
    make = Storing()
    make.io("NFS_PGFS01", write=[rate * MB, rate * 1.01 * MB, rate * 0.99 * MB])
    make.disk("RAID1", "PGFS01", write=[disk * MB, disk * 1.01 * MB, disk * 0.99 * MB])
    make.tcp("KGFS01", "PGFS01", [network, network + 1, network - 1], direction="forward", streams=1)
    evidence = make.evidence(NFS, RAID1)
    points = [
        replace(point, campaign=1 + (point.layer in ago) * (1 + LAYERS.index(point.layer)),
                at=NOW - ago.get(point.layer, 0) * SECONDS)
        for point in evidence.points
    ]  # fmt: skip
    return replace(evidence, points=tuple(points))


def drafts(evidence: Evidence) -> list[FindingDraft]:
    return [*layers.overview(evidence), *storage.overview(evidence)]


def findings(evidence: Evidence) -> list[str]:
    return [draft.rule for draft in drafts(evidence)]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("rate", "network", "disk"),
    [(50, 940, 300), (110, 940, 300), (50, 940, 55), (100, 300, 300), (100, 940, 60)],
    ids=["room", "network full", "disks full", "beyond the network", "beyond the disks"],
)
def test_nothing_is_concluded_from_layers_months_apart(layer: str, rate: float, network: float, disk: float) -> None:
    figures = {"rate": rate, "network": network, "disk": disk}
    together, apart = measured({}, **figures), measured({layer: 200}, **figures)
    assert {"limiting-layer", "cache-effect", "undecided-layer"} & {*findings(together)}
    (verdict,) = judge_all(apart)
    far = {NETWORK, DISK} if layer == FILE_SYSTEM else {layer}
    assert {item.layer for item in verdict.apart} == far
    used = {item.layer for item in (verdict.network, verdict.disk) if item is not None and not item.is_stated}
    assert not used & far
    for draft in drafts(apart):
        if draft.rule in COMPARING:
            assert not {trial for item in verdict.apart for trial in item.trials} & {*draft.evidence}, draft.title
    # It was measured, but of another time: that is proposed once more.
    proposals = [proposal for draft in layers.overview(apart) for proposal in draft.proposals]
    assert layer != NETWORK or rate > disk or any(p.tool == "iperf3-tcp" and p.is_repetition for p in proposals)
    lines = [str(line) for draft in drafts(apart) for line in draft.against]
    assert any("months before or after" in line for line in lines) or "limiting-layer" not in findings(apart)


def test_a_file_system_measured_before_the_links_it_is_held_against_is_not_blamed() -> None:
    """By the links of today it has room; those of then nobody described."""
    (verdict,) = judge_all(measured({FILE_SYSTEM: 200}))
    assert (verdict.layer, verdict.network, verdict.disk) == ("", None, None)
    (draft,) = [item for item in drafts(measured({FILE_SYSTEM: 200})) if item.rule == "undecided-layer"]
    assert "months apart" in str(draft.title)


@pytest.mark.parametrize("days", [0, 1, 29])
def test_of_another_campaign_of_these_weeks_the_days_are_told_and_it_is_less_sure(days: int) -> None:
    one, two = measured({}), measured({NETWORK: days})
    (sure,), (doubted,) = ([d for d in drafts(each) if d.rule == "limiting-layer"] for each in (one, two))
    assert doubted.title == sure.title
    assert doubted.confidence <= 0.75 and doubted.confidence_label != "high"
    assert any("another campaign (20" in str(line) for line in doubted.against)
    assert not any("another campaign" in str(line) for line in sure.against)


def test_each_row_has_its_day() -> None:
    (own,) = table(measured({NETWORK: 3, DISK: 200}))
    rows = {row.layer: row for row in own.rows}
    assert all(row.day for row in own.rows)
    assert [rows[layer].is_elsewhen for layer in LAYERS] == [True, True, False]
    assert rows[DISK].ratio is None and "months" in str(rows[DISK].note)
    assert rows[NETWORK].ratio is not None


def test_what_was_measured_together_or_at_unknown_times_is_as_before() -> None:
    evidence = measured({NETWORK: 200})
    for unknown in ({"at": None}, {"campaign": None}, {"campaign": 1}):
        points = tuple(replace(point, **unknown) for point in evidence.points)
        assert "limiting-layer" in findings(replace(evidence, points=points))
