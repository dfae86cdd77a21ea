"""Advice to allow more is held against what the same client had already: it refutes it, or stands against it."""

import dataclasses

import pytest

from apps.bench.rules.base import FileSystemFacts, LinkFacts, PathFacts
from tests.bench.rules.storing import GIB, GPFS, MB, SAN, Storing, concluded, wan
from tests.bench.rules.test_storage_options import nfs

FAR = PathFacts(1e9, 0.1355, 9000, (LinkFacts("wan", 1e9, 0.1355, 9000),), "wan")
ON_S = {("KGFS01", "S"): wan("KGFS01", "S")}
SOCKETS = {"socketRcvBufferSize": 65536, "socketSndBufferSize": 65536}


def alone():
    return (
        Storing()
        .tcp("KGFS01", "PGFS01", [980] * 3, direction="forward", streams=5)
        .disk("SAN", "PGFS01", write=[264 * MB] * 3)
    )


# Rule: its evidence without the file system's own figures, the file systems, the paths, the rate that makes it speak.
RULES = {
    "storage-gpfs-client": (alone, [GPFS, SAN], None, 13),
    "storage-gpfs-sockets": (Storing, [dataclasses.replace(GPFS, options=SOCKETS)], None, 13),
    "storage-lustre-requests": (
        Storing, [FileSystemFacts("fs", "lustre", None, ("S",), {"stripe_count": 1})], {("KGFS01", "S"): FAR}, 60,
    ),
    "storage-nfs-transfer": (Storing, [FileSystemFacts("fs", "nfs", None, ("S",), {"wsize": 65536})], ON_S, 13),
    "storage-connections": (lambda: streams_of(nfs({})), [FileSystemFacts("fs", "nfs", None, ("S",))], ON_S, 19),
}  # fmt: skip


def streams_of(make):
    make.points = [point for point in make.points if point.layer == "network"]
    return make


def advice(rule, high=None, more=None):
    """Return the finding of a rule where some runs had `high` MB/s, and some with more tasks `more`."""
    start, systems, paths, low = RULES[rule]
    make = start()
    name = systems[0].name
    values = [low, low] * 4 if high is None else [low, high, low * 1.01, high, low, high, low * 0.99, high]
    fixed = {"file_size": 4 * GIB, "record_size": 262144}
    roles = {"client": ("KGFS01",)}
    make.point("file-system", {"write": [rate * MB for rate in values]}, file_system=name, roles=roles, **fixed)
    if more:
        rates = {"write": [more * MB * noise for noise in (0.99, 1, 1.01)]}
        make.point("file-system", rates, file_system=name, roles=roles, threads=9, **fixed)
    return next(iter(concluded(make.evidence(*systems, paths=paths), rule).values()), None)


@pytest.mark.parametrize("rule", RULES)
def test_without_more_measured_it_is_advised(rule):
    draft = advice(rule)
    # Where what is set is not told, that is asked for first.
    assert draft.change or draft.missing
    assert not any("One client had" in str(line) for line in draft.against)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("high", "more"), [(1.8, None), (4, None), (1.8, 1.9), (4, 4.5), (5, 6)])
def test_what_one_client_had_refutes_it_or_stands_against_it(rule, high, more):
    low = RULES[rule][-1]
    draft = advice(rule, min(high * low, 115), more and min(more * low, 117))
    if draft and draft.value and draft.present != min(high * low, 115) * MB:
        assert any("One client had" in str(line) for line in draft.against)
        assert draft.confidence <= 0.5


@pytest.mark.parametrize("slow", ["write", "read"])
@pytest.mark.parametrize(
    ("fast", "warnings", "is_told"), [(101, (), False), (50, (), True), (101, ("cached-write",), True)]
)
def test_what_the_daemon_is_allowed_bears_on_writing_and_reading(slow, fast, warnings, is_told):
    """One limit holds both: what a client had one way, it may have the other way; a cache's figures say nothing."""
    make = alone().tcp("KGFS01", "PGFS01", [980] * 3, direction="reverse", streams=5)
    make.disk("SAN", "PGFS01", read=[354 * MB] * 3)
    other = {"write": "read", "read": "write"}[slow]
    make.io("GPFS_PDAISY", **{slow: [13 * MB] * 4})
    make.io("GPFS_PDAISY", **{other: [fast * MB * noise for noise in (0.99, 1, 1.01)]})
    make.points[-1] = dataclasses.replace(make.points[-1], warnings=frozenset(warnings))
    drafts = concluded(make.evidence(GPFS, SAN), "storage-gpfs-client")
    assert bool(drafts) is is_told
    for draft in drafts.values():
        against = [str(line) for line in draft.against if "One client had" in str(line)]
        # Of two directions with the same advice it may be told for the faster one.
        assert bool(against) is (not warnings and draft.present < 20 * MB)


@pytest.mark.parametrize("slow", ["write", "read"])
@pytest.mark.parametrize(("fast", "is_told"), [(101, False), (55, True)])
def test_as_many_requests_of_lustre_are_allowed_for_reading_as_for_writing(slow, fast, is_told):
    start, systems, paths, low = RULES["storage-lustre-requests"]
    other = {"write": "read", "read": "write"}[slow]
    rates = {name: [rate * MB * noise for noise in (0.99, 1, 1.01)] for name, rate in ((slow, low), (other, fast))}
    make = start().io("fs", clients=("KGFS01",), **rates)
    assert bool(concluded(make.evidence(*systems, paths=paths), "storage-lustre-requests")) is is_told


def test_the_published_modes_leave_no_advice_where_more_tasks_had_nearly_all():
    assert advice("storage-gpfs-client", 80).against
    assert advice("storage-gpfs-client", 80, 101) is None
