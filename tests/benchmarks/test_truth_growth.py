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
