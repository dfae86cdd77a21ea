"""A prediction is called measured only where just this was measured, and its range holds what the world gives."""

import itertools
import random
from dataclasses import dataclass, field

import pytest

from apps.bench.rules import workloads
from apps.bench.rules.workloads import Fit, Workload
from tests.bench.rules.storing import CLIENTS, GIB, GPFS, MB, Storing

KIB, MIB = 1024, 1024**2
RECORDS = (64 * KIB, MIB, 4 * MIB)
COUNTS = (1, 2, 4)
NAME = "GPFS_PDAISY"
BASES = ("measured", "computed", "between", "beyond")
# What worlds are made of: each waits for a record, has a rate of its own, shares a limit, and makes files.
WAITS_S, OWN, LIMITS, CREATIONS = (0.0, 0.0005, 0.01), (60 * MB, 200 * MB), (90 * MB, 5000 * MB), (30, 900)


@dataclass(frozen=True)
class StorageWorld:
    """A file system: every task waits for each record, has a rate of its own (B/s), and all share a limit.

    Files are made by each task at a rate of its own up to what the server makes (a second).
    """

    wait: float
    own: float
    limit: float
    creations: float
    server_creations: float
    scatter: float = 0.02
    source: random.Random = field(default_factory=lambda: random.Random(7))

    def rate(self, record: int, tasks: int) -> float:
        """Return the rate (B/s) of large files."""
        return min(tasks * record / (self.wait + record / self.own), self.limit)

    def files(self, tasks: int) -> float:
        """Return the files made a second."""
        return min(tasks * self.creations, self.server_creations)

    def rate_of_files(self, record: int, tasks: int, size: int) -> float:
        """Return the rate (B/s) of small files: each is made, and then filled."""
        return 1 / (1 / self.rate(record, tasks) + 1 / (self.files(tasks) * size))

    def draw(self, value: float, n: int) -> list[float]:
        return [value * self.source.gauss(1, self.scatter) for _k in range(n)]


def evidence_of(world: StorageWorld, n: int, records=RECORDS, counts=COUNTS, ranks=COUNTS):
    """Return what was measured of a world: large files by record and clients, and files made by ranks."""
    make = Storing()
    for record, clients in itertools.product(records, counts):
        make.point(
            "file-system", {"write": world.draw(world.rate(record, clients), n)}, file_system=NAME,
            roles={"client": CLIENTS[:clients]}, clients=clients, threads=1, record_size=record, file_size=4 * GIB,
        )  # fmt: skip
    for count in ranks:
        make.point(
            "file-system", {"file_create": world.draw(world.files(count), n)}, file_system=NAME, tool="mdtest",
            roles={"node": CLIENTS[:count]}, ranks=count,
        )  # fmt: skip
    return make.evidence(GPFS, paths={})


def fit_of(evidence, **more) -> Fit:
    (fit,) = workloads.fit(evidence, Workload("write", **{"file_size": 4 * GIB, **more}))
    return fit


def worlds() -> list[StorageWorld]:
    source = random.Random(11)
    return [
        StorageWorld(wait, own, limit, creations, served, source=source)
        for wait, own, limit, creations, served in itertools.product(WAITS_S, OWN, LIMITS, CREATIONS, (1000, 30000))
    ]


ASKED = tuple(itertools.product((16 * KIB, 64 * KIB, 256 * KIB, MIB, 2 * MIB, 16 * MIB), (1, 2, 3, 4, 8)))


@pytest.mark.parametrize("n", [3, 8])
@pytest.mark.parametrize("file_size", [4 * GIB, 64 * KIB])
def test_the_range_holds_the_truth_of_every_world(n: int, file_size: int) -> None:
    """As often as an interval of 95 % of each figure that it rests on does, for every basis."""
    held: dict[str, list[bool]] = {}
    # Each third has every value of each, as often as the others.
    for world in worlds()[::3]:
        evidence = evidence_of(world, n)
        for record, nodes in ASKED:
            fit = fit_of(evidence, record_size=record, nodes=nodes, file_size=file_size)
            truth = world.rate(record, nodes)
            if file_size < MIB:
                truth = world.rate_of_files(record, nodes, file_size)
            assert fit.low <= fit.rate <= fit.high
            held.setdefault(fit.basis, []).append(fit.low <= truth <= fit.high)
            just_this = record in RECORDS and nodes in COUNTS
            assert (fit.basis == "measured") is (just_this and file_size > MIB), (record, nodes, fit.basis)
    for basis, hits in held.items():
        assert sum(hits) / len(hits) >= 0.9, (basis, sum(hits) / len(hits))
    assert len(held) == 3, held.keys()


@pytest.mark.parametrize(
    ("records", "asked", "basis"),
    [
        (RECORDS, MIB, "measured"), (RECORDS, 10**6, "measured"), (RECORDS, 256 * KIB, "between"),
        (RECORDS, 96 * KIB, "between"), (RECORDS, 16 * MIB, "beyond"), (RECORDS, 4 * KIB, "beyond"),
        ((MIB,), 2 * MIB, "beyond"), ((MIB,), 64 * KIB, "beyond"), ((None,), MIB, "beyond"),
        ((None,), None, "measured"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("nodes", [2, 3])
def test_the_basis_is_that_of_records_and_counts_together(records, asked, basis, nodes) -> None:
    world = StorageWorld(0.0013, 2000 * MB, 900 * MB, 900, 30000)
    if records == (None,):
        make = Storing()
        for count in COUNTS:
            make.point("file-system", {"write": [100 * MB] * 3}, file_system=NAME, clients=count, threads=1,
                       roles={"client": CLIENTS[:count]})  # fmt: skip
        evidence = make.evidence(GPFS, paths={})
    else:
        evidence = evidence_of(world, 4, records)
    fit = fit_of(evidence, record_size=asked, nodes=nodes)
    expected = max(basis, "measured" if nodes in COUNTS else "between", key=BASES.index)
    assert fit.basis == expected
    assert fit.confidence <= {"measured": 0.85, "between": 0.7, "beyond": 0.4}[expected]


def test_a_size_between_two_may_have_what_either_has() -> None:
    """Measured with 64 KiB, 1 and 4 MiB: 50, 600 and 900 MB/s, which no law of single records explains."""
    make = Storing()
    for record, rate in zip(RECORDS, (50, 600, 900), strict=True):
        make.point("file-system", {"write": [rate * MB * x for x in (0.99, 1, 1.01)]}, file_system=NAME,
                   roles={"client": CLIENTS[:1]}, clients=1, threads=1, record_size=record)  # fmt: skip
    evidence = make.evidence(GPFS, paths={})
    fit = fit_of(evidence, record_size=256 * KIB)
    assert (fit.basis, fit.rate) == ("between", pytest.approx(187 * MB, rel=0.05))
    assert fit.low < 55 * MB and fit.high > 590 * MB
    beyond = fit_of(evidence, record_size=16 * MIB)
    assert beyond.basis == "beyond" and beyond.high > 900 * MB * 1.3


def test_files_are_made_by_as_many_tasks_as_the_workload_has() -> None:
    """One rank makes 900 a second and 64 make 30,000: one client's files cost a 900th each."""
    world = StorageWorld(0.0, 200 * MB, 200 * MB, 900, 30000)
    evidence = evidence_of(world, 4, (MIB,), (1,), (1, 64))
    fit = fit_of(evidence, record_size=MIB, file_size=64 * KIB)
    assert (fit.basis, fit.rate) == ("computed", pytest.approx(45.5 * MB, rel=0.05))
    assert "measured" not in {
        fit_of(evidence, record_size=MIB, file_size=64 * KIB, nodes=n).basis for n in (1, 2, 64)
    }
    more = evidence_of(world, 4, (MIB,), (1, 2), (1, 4))
    between = fit_of(more, record_size=MIB, file_size=64 * KIB, nodes=2)
    assert between.basis == "between"
    assert any("as many tasks create" in str(line) for line in between.doubts)


def test_nodes_with_other_tasks_on_each_are_beyond_what_was_measured() -> None:
    """Eight threads of one client share its link; eight clients have a link each."""
    make = Storing()
    for threads, rate in ((1, 60), (4, 112), (8, 113)):
        make.point("file-system", {"write": [rate * MB] * 3}, file_system=NAME, roles={"client": CLIENTS[:1]},
                   clients=1, threads=threads, record_size=MIB)  # fmt: skip
    fit = fit_of(make.evidence(GPFS, paths={}), record_size=MIB, nodes=4, tasks=2)
    assert fit.basis == "beyond"
    assert fit.high >= 4 * 112 * MB
