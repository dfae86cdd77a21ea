"""Many nodes are advised only where more and more clients were tried, and the most of them had no less."""

import re

import pytest

from apps.bench.rules import storage, workloads
from apps.bench.rules.base import Evidence, FileSystemFacts
from tests.bench.rules.storing import GPFS, MB, NFS, Storing, sweep

CLIENTS = tuple(f"c{number}" for number in range(1, 17))
# In all (MB/s), by how many there are.
SHAPES = {
    "grows": {1: 13, 2: 26, 4: 52, 8: 100, 16: 190},
    "levels off": {1: 20, 2: 40, 4: 80, 8: 110, 16: 112},
    "falls at its end": {1: 55, 2: 99, 4: 112.5, 8: 90, 16: 60},
    "falls below a twentieth": {1: 20, 2: 40, 4: 80, 8: 112, 16: 104},
    "falls": {1: 100, 2: 80, 4: 60, 8: 50, 16: 40},
    "is flat": {1: 100, 2: 101, 4: 100, 8: 100, 16: 101},
}
MANY = re.compile(
    r"fit for applications in which many|serves applications well in which many|for many (of them|nodes)"
)


def varied(factor: str, shape: str, facts: FileSystemFacts, beside: int = 1) -> Evidence:
    rates = {count: [rate * part for part in (0.99, 1, 1.01)] for count, rate in SHAPES[shape].items()}
    nodes, fixed = (CLIENTS, {"threads": beside}) if factor == "clients" else (CLIENTS[:beside], {})
    return sweep(factor, rates, file_system=facts.name, clients=nodes, **fixed).evidence(facts, paths={})


def lines_of(evidence: Evidence) -> list[str]:
    drafts = [*storage.overview(evidence), *workloads.overview(evidence)]
    return [str(line) for draft in drafts for line in (draft.title, *draft.why) if MANY.search(str(line))]


@pytest.mark.parametrize("facts", [GPFS, NFS], ids=["gpfs", "nfs"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factor", ["clients", "threads"])
def test_many_nodes_are_advised_by_clients_that_were_varied(factor, shape, facts):
    rates = SHAPES[shape]
    for beside in (1, 4):
        lines = lines_of(varied(factor, shape, facts, beside))
        fit = [line for line in lines if "in which many" in line]
        if factor == "threads":
            assert lines == []
        elif rates[16] < 0.95 * max(rates.values()):
            assert fit == []
        else:
            assert bool(fit) == (rates[1] < 0.5 * rates[16])
    # Of one file system never both at once.
    lines = lines_of(varied(factor, shape, facts))
    assert not (
        [line for line in lines if "in which many" in line] and [line for line in lines if "for many" in line]
    )


def test_a_client_that_has_most_of_it_by_more_tasks_needs_no_others():
    make = Storing()
    for clients, threads, rate in ((1, 1, 13), (4, 1, 52), (1, 8, 50)):
        own = {"clients": clients, "threads": threads, "file_size": 4 * 1024**3}
        rates = [rate * MB * part for part in (0.99, 1, 1.01)]
        make.point("file-system", {"write": rates}, file_system=GPFS.name, roles={"client": CLIENTS}, **own)
    evidence = make.evidence(GPFS, paths={})
    assert [draft for draft in workloads.overview(evidence) if draft.rule == "workload-nodes"] == []
