"""A share of what a layer gives alone is told as it is, and names that layer only where it is a share of it."""

import re

import pytest

from apps.bench.rules import layers, storage
from apps.bench.rules.base import DISK, FILE_SYSTEM, Evidence, FindingDraft
from apps.bench.rules.layers.fullness import BEYOND
from tests.bench.rules.storing import CLIENTS, MB, NFS, RAID1, Storing

SCATTER = {"once": [1.0], "near": [0.99, 1.0, 1.01], "wide": [0.8, 1.0, 1.2]}


def nfs(share: float, *, tasks: int = 1, on_disk: int = 1, scatter: str = "near", network: float = 9800) -> Evidence:
    """Return NFS that gives a share of its disks' rate, of so many tasks each; a network with room."""
    make = Storing().tcp("KGFS01", "PGFS01", [network] * 3, streams=5, direction="forward")
    for name, layer, node, count, rate in (
        ("NFS_PGFS01", FILE_SYSTEM, CLIENTS[0], tasks, share * 100),
        ("RAID1", DISK, "PGFS01", on_disk, 100),
    ):
        rates = [rate * part * MB for part in SCATTER[scatter]]
        make.point(layer, {"write": rates}, file_system=name, roles={"client": (node,)}, threads=count)
    # A path of 1 Gbit/s is described where TCP had no more.
    return make.evidence(NFS, RAID1, **({} if network < 1000 else {"paths": {}}))


def texts(draft: FindingDraft) -> list[str]:
    return [str(line) for line in (draft.title, *draft.why, *draft.against, *draft.missing)]


@pytest.mark.parametrize("scatter", SCATTER)
@pytest.mark.parametrize("on_disk", [1, 4, 8])
@pytest.mark.parametrize("share", [0.3, 0.9, 1.0, 1.04, 1.07, 1.12, 1.2, 2.0])
def test_a_layer_is_named_by_a_share_of_what_it_gave_to_as_many_at_once(share, on_disk, scatter):
    evidence = nfs(share, tasks=8, on_disk=on_disk, scatter=scatter)
    (table,) = layers.table(evidence)
    if table.layer == "disk":
        assert share <= BEYOND
        assert on_disk >= 8
    if share > BEYOND:
        lines = [text for draft in layers.overview(evidence) for text in texts(draft)]
        lines += [text for draft in storage.overview(evidence) for text in texts(draft)]
        assert not [text for text in lines if re.search(r"\b100 %|nearly all", text)]
        # Nobody said it of disks that were measured.
        assert not [text for text in lines if "are said to give" in text]
    if share > BEYOND and on_disk < 8:
        assert table.layer == ""
        assert any("with as many tasks at once (8)" in str(line) for line in table.missing)
        assert [item.fixed["threads"] for item in table.proposals if item.file_system == "RAID1"] == [8]


def test_disks_that_gave_less_to_fewer_do_not_hide_a_network_that_is_full():
    evidence = nfs(1.2, tasks=8, on_disk=4, network=980)
    (table,) = layers.table(evidence)
    assert table.layer == "network"
    (draft,) = [item for item in layers.overview(evidence) if item.rule == "limiting-layer"]
    less = "The disks alone gave only 99.99 MB/s, less than the 120.0 MB/s"
    assert [line for line in map(str, draft.against) if line.startswith(less)]
