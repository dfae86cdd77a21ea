"""“Let many do I/O at once” is true where more gain something, and false where one was told that they do not."""

from typing import Any

import pytest

from apps.bench.rules.storage.titles import NEARLY, OF_CLIENTS
from benchmarks.truth.judging.base import FALSE, TRUE
from benchmarks.truth.worlds.base import Cell, Setup, StatedFileSystem, StatedLink, Trial
from benchmarks.truth.worlds.storage import LOCAL, READ, WRITE, StorageWorld
from tests.benchmarks.oracle import finding, outcome, storage

GROWS, FULL = OF_CLIENTS["rises"], OF_CLIENTS[NEARLY]
WIDE = StatedLink("A – B", "A", "B", 2_000_000_000, None)
LARGE = {WRITE: 9e9, READ: 9e9}


def world(*, told: bool = False, disks: bool = False, **changes: Any) -> StorageWorld:
    """Return clients of 1 Gbit/s, of which one and two were measured, with what was told of links and disks."""
    made = storage(**({"disk": LARGE, "server_nic_bps": 1e10} | changes))
    cells = []
    for count in (1, 2):
        figures = {metric: made.rate(metric, {"clients": count}) for metric in (WRITE, READ)}
        cells.append(Cell({"clients": count}, figures, [Trial(figures)] * 3))
    setups = [Setup("Clients", "iozone", {"client": ("c1", "c2")}, cells, ("clients",))]
    if disks:
        alone = Cell({}, dict(made.disk), [Trial(dict(made.disk))] * 3)
        setups.append(Setup("Disks", "iozone", {"client": ("s1",)}, [alone], (), LOCAL))
    served = StatedFileSystem("shared", "lustre", made.servers, made.clients, None, "")
    return storage(
        **({"disk": LARGE, "server_nic_bps": 1e10} | changes),
        setups=tuple(setups),
        links=(WIDE,) if told else (),
        file_systems=(served,),
    )


@pytest.mark.parametrize(
    ("made", "grows", "full"),
    [
        (world(told=True), TRUE, FALSE),
        (world(told=True, wide_bps=2e9), FALSE, TRUE),
        # Nobody was told of the link, and growth is in proportion: that it ends there cannot be known.
        (world(wide_bps=2e9), TRUE, TRUE),
        (world(wide_bps=1.1e9), FALSE, TRUE),
        (world(disks=True, servers=("s1",), disk={WRITE: 235e6, READ: 235e6}), FALSE, TRUE),
        (world(disks=True, servers=("s1",)), TRUE, FALSE),
    ],
    ids=["room", "network full", "not told", "bent", "disks full", "disks with room"],
)
def test_many_are_advised_where_more_gain_something(made: StorageWorld, grows: str, full: str) -> None:
    params = {"metric": "write", "name": "shared", "count": "2"}
    assert outcome(made, finding("storage-clients", GROWS, params=params, value=2)) == grows
    assert outcome(made, finding("storage-clients", FULL, params=params, value=2)) == full


def test_who_has_most_of_its_own_way_is_not_poorly_served() -> None:
    poorly = {"msgid": "and poorly those in which few do", "params": {}}
    fields: dict[str, Any] = {"params": {"metric": "write", "name": "shared", "count": "2"}, "value": 2}
    for software, poor in ((100e6, FALSE), (20e6, TRUE)):
        sites = world(told=True, software=software)
        assert outcome(sites, finding("storage-clients", GROWS, why=[poorly], **fields)) == poor
        assert outcome(sites, finding("workload-nodes", "fit for many, and poor where few do", **fields)) == poor


@pytest.mark.parametrize(("least", "ceiling", "said"), [(86, "1.175 GB/s", FALSE), (11, "1.175 GB/s", TRUE)])
def test_how_many_fill_the_network_is_reckoned_by_what_all_share(least: int, ceiling: str, said: str) -> None:
    enough = {"msgid": "it takes so many", "params": {"least": least, "apiece": "110 MB/s", "ceiling": ceiling}}
    fields: dict[str, Any] = {"params": {"metric": "write", "name": "shared", "count": "2"}, "value": 2}
    sites = world(told=True, software=110e6)
    assert outcome(sites, finding("storage-clients", GROWS, why=[enough], **fields)) == said
