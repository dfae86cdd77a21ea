"""Connections, mount options and caches: advised where facts and rates show a need, and not otherwise."""

import dataclasses

import pytest

from apps.bench.rules.base import DOUBT, FileSystemFacts, LinkFacts, PathFacts
from apps.bench.rules.storage.common import mount_again
from tests.bench.rules.storing import CLIENTS, GIB, GPFS, MB, SAN, Storing, concluded, the

MIB = 1024**2


def nfs(options, *, write=19 * MB, rates=(19.9, 116), stripes=8):
    make = Storing().io("fs", write=[write, write])
    make.tcp("KGFS01", "S", [8 * rates[0]] * 2, streams=1, direction="forward", window=0)
    make.tcp("KGFS01", "S", [8 * rates[1]] * 2, streams=stripes, direction="forward", window=0)
    return make


def test_a_mount_that_moves_what_one_stream_does_wants_more_connections():
    facts = FileSystemFacts("fs", "nfs", None, ("S",))
    draft = the(nfs({}).evidence(facts), "storage-connections")
    assert draft.value == 8
    assert "nconnect=8" in draft.change
    assert draft.predicted == pytest.approx(116 * MB)
    gpfs_facts = dataclasses.replace(facts, kind="gpfs", options={"maxTcpConnsPerNodeConn": 1})
    gpfs = the(nfs({}).evidence(gpfs_facts), "storage-connections")
    assert gpfs.change == "mmchconfig maxTcpConnsPerNodeConn=8"
    unknown = the(nfs({}).evidence(dataclasses.replace(facts, kind="gpfs")), "storage-connections")
    assert (unknown.change, unknown.undo) == ("", "")


@pytest.mark.parametrize(
    ("changes", "maker"),
    [
        ({"kind": "glusterfs"}, nfs({})),
        ({"options": {"nconnect": 8}}, nfs({})),
        ({}, nfs({}, write=60 * MB)),
        ({}, nfs({}, rates=(19.9, 20))),
    ],
    ids=["no such option", "has them", "faster than one", "streams gain nothing"],
)
def test_otherwise_more_connections_are_not_advised(changes, maker):
    facts = dataclasses.replace(FileSystemFacts("fs", "nfs", None, ("S",)), **changes)
    assert concluded(maker.evidence(facts), "storage-connections") == {}


def test_small_nfs_transfers_are_raised_unless_the_network_is_full():
    facts = FileSystemFacts("fs", "nfs", None, ("S",), {"wsize": 65536, "rsize": 65536, "mount": "/mnt/fs"})
    draft = the(Storing().io("fs", write=30 * MB).evidence(facts), "storage-nfs-transfer")
    assert draft.change == mount_again({"mount": "/mnt/fs"}, rsize=1048576, wsize=1048576)
    assert draft.undo == mount_again({"mount": "/mnt/fs"}, rsize=65536, wsize=65536)
    assert concluded(Storing().io("fs", write=118 * MB).evidence(facts), "storage-nfs-transfer") == {}
    large = dataclasses.replace(facts, options={"wsize": MIB})
    assert concluded(Storing().io("fs", write=30 * MB).evidence(large), "storage-nfs-transfer") == {}
    odd = dataclasses.replace(facts, options={"wsize": "default"})
    assert concluded(Storing().io("fs", write=30 * MB).evidence(odd), "storage-nfs-transfer") == {}


def test_lustre_on_a_long_path_wants_more_requests_in_flight():
    facts = FileSystemFacts("fs", "lustre", None, ("S",), {"stripe_count": 1, "max_rpcs_in_flight": 8})
    path = {("KGFS01", "S"): PathFacts(1e9, 0.1355, 9000, (LinkFacts("wan", 1e9, 0.1355, 9000),), "wan")}
    draft = the(Storing().io("fs", write=60 * MB).evidence(facts, paths=path), "storage-lustre-requests")
    # The BDP is that of the path, as all rules have it: 16.9 MB.
    assert draft.value == 17
    assert draft.change == "lctl set_param osc.*.max_rpcs_in_flight=17"
    assert draft.undo == "lctl set_param osc.*.max_rpcs_in_flight=8"
    unknown = the(
        Storing()
        .io("fs", write=60 * MB)
        .evidence(dataclasses.replace(facts, options={"stripe_count": 1}), paths=path),
        "storage-lustre-requests",
    )
    # A line that sets what nobody knows could lower it.
    assert (unknown.value, unknown.change, unknown.undo) == (17, "", "")
    assert "lctl get_param" in str(unknown.missing[0])
    assert "61.91 MB/s" in draft.formula
    assert concluded(Storing().io("fs", write=20 * MB).evidence(facts, paths=path), "storage-lustre-requests") == {}
    short = {("KGFS01", "S"): PathFacts(1e9, 0.0005, 9000, (LinkFacts("lan", 1e9, 0.0005, 9000),), "lan")}
    assert concluded(Storing().io("fs", write=60 * MB).evidence(facts, paths=short), "storage-lustre-requests") == {}


def test_sockets_of_gpfs_below_the_bdp_are_left_to_the_kernel():
    facts = dataclasses.replace(GPFS, options={"socketRcvBufferSize": 65536, "socketSndBufferSize": 65536})
    draft = the(Storing().io("GPFS_PDAISY", write=13 * MB).evidence(facts), "storage-gpfs-sockets")
    assert draft.change == "mmchconfig socketRcvBufferSize=0,socketSndBufferSize=0"
    assert "socketRcvBufferSize=65536" in draft.undo
    enough = dataclasses.replace(GPFS, options={"socketRcvBufferSize": MIB})
    assert concluded(Storing().io("GPFS_PDAISY", write=13 * MB).evidence(enough), "storage-gpfs-sockets") == {}


# Caches


def test_figures_of_a_cache_are_doubted():
    make = Storing().io("GPFS_PDAISY", read=100 * MB, reread=9000 * MB)
    draft = the(make.evidence(GPFS), "storage-cached-reads")
    assert draft.kind == DOUBT
    assert "×90.0" in str(draft.why[0])
    assert (
        concluded(Storing().io("GPFS_PDAISY", read=100 * MB, reread=105 * MB).evidence(GPFS), "storage-cached-reads")
        == {}
    )
    pool = dataclasses.replace(GPFS, options={"pagepool": 8 * GIB})
    assert "page pool" in str(
        the(Storing().io("GPFS_PDAISY", read=100 * MB).evidence(pool), "storage-cached-reads").why[0]
    )
    flagged = Storing().io("SAN", read=100 * MB)
    flagged.points = [dataclasses.replace(flagged.points[0], warnings=frozenset({"cached-read"}))]
    assert the(flagged.evidence(SAN), "storage-cached-reads").subject == "SAN"


def test_a_mount_is_made_anew_with_its_own_options_and_taken_back():
    facts = FileSystemFacts("fs", "nfs", None, ("S",), {"mount": "/home", "vers": 4.2, "rsize": 262144})
    draft = the(nfs({}).evidence(facts), "storage-connections")
    assert draft.change.endswith('mount -t nfs -o "$options,nconnect=8" "$source" "$at"')
    assert draft.undo == draft.change.replace("nconnect=8", "nconnect=1")


def test_no_more_connections_are_advised_than_were_measured():
    facts = FileSystemFacts("fs", "nfs", None, ("S",))
    make = nfs({}, stripes=32)
    # So many NFS does not open; of fewer nobody measured more than one.
    assert concluded(make.evidence(facts), "storage-connections") == {}
    make.tcp("KGFS01", "S", [8 * 60] * 2, streams=4, direction="forward", window=0)
    assert the(make.evidence(facts), "storage-connections").value == 4


def test_one_client_among_many_has_the_bdp_of_its_own_path():
    wan = LinkFacts("wan", 1e10, 0.0135, 9000)
    path = {(name, "S"): PathFacts(1e9, 0.0135, 9000, (LinkFacts(name, 1e9, 0, 9000), wan), name) for name in CLIENTS}
    facts = FileSystemFacts("fs", "lustre", None, ("S",), {"stripe_count": 1, "rpc_size": MIB // 16})
    make = Storing().io("fs", write=4 * 36 * MB, clients=CLIENTS)
    draft = the(make.evidence(facts, paths=path), "storage-lustre-requests")
    assert "1.609 MiB" in str(draft.title)


@pytest.mark.parametrize(
    ("counts", "predicted"),
    [
        ({1: 20}, 116),
        ({1: 20, 2: 40, 4: 80}, 80),
        ({2: 40, 4: 80}, 40),
        ({2: 40}, 116),
        # What clients have no more of together is their server's.
        ({2: 40, 4: 38}, None),
        ({2: 40, 3: 41, 4: 40}, None),
        ({1: 20, 2: 21, 4: 19}, None),
        # Two clients share what one has alone.
        ({1: 40, 2: 40}, None),
    ],
)
@pytest.mark.parametrize("kind", ["nfs", "gpfs"])
def test_connections_hold_what_grows_with_the_clients(kind, counts, predicted):
    make = nfs({}, write=next(iter(counts.values())) * MB)
    make.points.pop(0)
    for count, together in counts.items():
        make.io("fs", clients=CLIENTS[:count], write=[together * MB * share for share in (0.99, 1, 1.01)])
    facts = FileSystemFacts("fs", kind, None, ("S",))
    drafts = concluded(make.evidence(facts), "storage-connections")
    if predicted is None:
        assert not drafts
        return
    (draft,) = drafts.values()
    assert draft.predicted == pytest.approx(predicted * MB, rel=0.02)
    assert any("clients at once" in str(message) for message in draft.against) == (counts == {2: 40})
