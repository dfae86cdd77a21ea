"""Of a file system no rule names a disk but one that lies beneath it, as far as the inventory says."""

import itertools
import json
import re

import pytest

from apps.bench.rules import layers, storage
from apps.bench.rules.base import DISK, FileSystemFacts
from tests.bench.rules.storing import CLIENTS, GIB, MB, SERVERS, Storing
from tests.rotation import part_of

ONE, TWO = SERVERS[:1], SERVERS[:2]
# Local file systems, by name: the servers that they are on.
ARRAYS = {"ARRAY_A": ONE, "ARRAY_B": ONE, "ARRAY_ALL": TWO, "ARRAY_FAR": ("FAR01",)}
OPTIONS = {
    "nfs": {"wsize": 65536, "rsize": 65536},
    "lustre": {"stripe_count": 1, "max_rpcs_in_flight": 1, "rpc_size": 65536},
    "gpfs": {"maxMBpS": 10, "socketRcvBufferSize": 65536},
    "glusterfs": {},
}
# Runs in which nothing moved are told of whatever lies beneath.
RULES = {rule.name for rule in (*storage.WHOLE, *layers.WHOLE) if not rule.is_of_silence}
DESCRIBED = [
    *((name,) for name in ARRAYS),
    ("ARRAY_A", "ARRAY_B"),
    ("ARRAY_A", "ARRAY_ALL"),
    ("ARRAY_ALL", "ARRAY_FAR"),
]


def beneath(servers, described, disk, neighbour_disk):
    """Return what lies beneath by the inventory: the array that is named, else the only one on all servers."""
    if disk:
        return {disk} & {*described}
    near = [name for name in described if name != neighbour_disk and {*servers} & {*ARRAYS[name]}]
    candidates = [name for name in near if {*servers} <= {*ARRAYS[name]}]
    if not candidates:
        return set(near) if {*servers} <= {node for name in near for node in ARRAYS[name]} else set()
    fewest = min(len(ARRAYS[name]) for name in candidates)
    best = [name for name in candidates if len(ARRAYS[name]) == fewest]
    return {*best} if len(best) == 1 else set()


def evidence(kind, servers, described, disk_names, *, rate=12, disk="", neighbour_disk="", modes=False, grows=True):
    """Return evidence of a file system, FS, of arrays beside it, of TCP, and of another one on `neighbour_disk`.

    With `modes` what it reads falls into two of them; what it writes `grows` with the record, or does not.
    """
    make, options = Storing(), OPTIONS[kind] | ({"disk": disk} if disk else {})
    own = {"tool": "iozone", "file_system": "FS"}
    for clients in (1, 2):
        reads = [clients * rate * MB * share for share in ((1, 0.3, 1, 0.3, 1) if modes else (1, 1, 1))]
        rates = {"write": [clients * rate * MB] * 3, "read": reads, "reread": [9e9] * 3}
        make.point("file-system", rates, roles={"client": CLIENTS[:2]}, clients=clients, file_size=4 * GIB, **own)
    for record in (65536, 1048576):
        rates = {"write": [rate * MB * (1 + (grows and record > 65536))] * 3}
        make.point(
            "file-system",
            rates,
            roles={"client": CLIENTS[:1]},
            record_size=record,
            clients=1,
            file_size=4 * GIB,
            **own,
        )
    make.io("FS", clients=CLIENTS[2:3], write=[rate * MB] * 3).io("FS", clients=CLIENTS[3:4], write=[rate * MB] * 3)
    for name in disk_names:
        rates = {"write": [100 * MB] * 3, "read": [150 * MB] * 3}
        make.point(DISK, rates, roles={"client": ARRAYS[name][:1]}, file_system=name, file_size=4 * GIB)
    for streams, mbit_s in ((1, 8 * rate), (8, 900)):
        make.tcp(CLIENTS[0], servers[0], [mbit_s] * 3, streams=streams, direction="forward", window=0)
    facts = [FileSystemFacts(name, "ext", None, ARRAYS[name]) for name in described]
    other = [FileSystemFacts("NEXT", "nfs", None, ONE, {"disk": neighbour_disk})] if neighbour_disk else []
    return make.evidence(FileSystemFacts("FS", kind, 262144, servers, options), *facts, *other)


def drafts_on(measurements):
    """Return the drafts on FS of all rules of storage."""
    drafts = [*storage.overview(measurements), *layers.overview(measurements)]
    return [draft for draft in drafts if draft.subject.startswith("FS")]


def named_in(draft):
    """Return the arrays that any part of a draft names: sentences, proposals, proofs, commands."""
    return set(re.findall(r"ARRAY_[A-Z]+", json.dumps(draft.as_json())))


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("described", DESCRIBED, ids="+".join)
def test_no_rule_of_storage_names_a_disk_that_does_not_lie_beneath(kind, described):
    first = described[0]
    hints = (("", ""), (first, ""), ("GONE", ""), ("", first), (described[-1], first))
    worlds = itertools.product((ONE, TWO), hints, (described, ()))
    for servers, (disk, neighbour_disk), disk_names in part_of(worlds, parts=5):
        own = {"disk": disk, "neighbour_disk": neighbour_disk, "modes": not disk_names}
        measurements = evidence(kind, servers, described, disk_names, **own)
        allowed = beneath(servers, described, disk, neighbour_disk)
        for draft in drafts_on(measurements):
            assert named_in(draft) <= allowed, (draft.rule, str(draft.title), servers, disk, neighbour_disk)
        for row in layers.table(measurements):
            own = {name for item in row.rows if item.layer == DISK for name in item.subject.split(", ")}
            proposed = {item.file_system for item in row.proposals if item.file_system.startswith("ARRAY")}
            assert row.file_system != "FS" or own | proposed <= allowed


@pytest.mark.parametrize(
    ("described", "is_known"),
    [(("ARRAY_A",), True), (("ARRAY_A", "ARRAY_B"), False), (("ARRAY_FAR",), False), ((), False)],
    ids=["one", "two", "far", "none"],
)
def test_a_disk_that_lies_beneath_is_named_and_else_it_is_said_not_to_be_known(described, is_known):
    drafts = drafts_on(evidence("nfs", ONE, described, (), rate=59))
    (draft,) = [item for item in drafts if item.rule == "limiting-layer" and "write" in item.subject]
    assert (named_in(draft) == {"ARRAY_A"}) is is_known
    assert any("which of them lie beneath it is not known" in str(line) for line in draft.missing) is not is_known


def test_every_rule_of_storage_was_asked():
    """No rule escapes the test above because its evidence never brings it about."""
    rule_names = set()
    for kind, rate, described, grows in itertools.product(OPTIONS, (3, 12, 59), ((), ("ARRAY_A",)), (True, False)):
        measurements = evidence(kind, ONE, described, described, rate=rate, modes=not described, grows=grows)
        rule_names |= {draft.rule for draft in drafts_on(measurements)}
    assert rule_names >= RULES, RULES - rule_names
