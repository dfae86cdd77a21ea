"""What a cache gave is evidence of nothing else: no rule but the one that doubts it rests on such figures."""

import pytest

from apps.bench import rules
from apps.bench.rules import runner
from apps.bench.rules.base import DOUBT
from tests.bench.rules.storing import CLIENTS, GPFS, MB, NFS, RAID1, concluded, sweep

# MB/s; one client's link carries 117.7, the disks beneath gave 30.
BEYOND_NETWORK = {1: [1050, 1060, 1055], 2: [2080, 2100, 2090], 4: [2480, 2500, 2490], 8: [2480, 2490, 2500]}
BEYOND_DISKS = {1: [55, 56, 55], 2: [80, 81, 80], 4: [98, 99, 98], 8: [99, 98, 99]}


def swept(factor, rates, metric="read"):
    """Return a sweep over one client's tasks or over its sizes of records, of the factor's own values."""
    values = {2**10 * 64 * count: rate for count, rate in rates.items()} if factor == "record_size" else rates
    return sweep(factor, values, metric=metric, file_system="NFS_PGFS01", clients=CLIENTS[:1])


@pytest.mark.parametrize("metric", ["read", "write"])
@pytest.mark.parametrize("factor", ["threads", "record_size"])
@pytest.mark.parametrize("rates", [BEYOND_NETWORK, BEYOND_DISKS], ids=["network", "disks"])
def test_no_rule_rests_on_what_a_cache_gave(factor, rates, metric):
    make = swept(factor, rates, metric)
    own = {trial for point in make.points for trial in point.metrics[metric]}
    if rates is BEYOND_DISKS:
        make.disk("RAID1", "PGFS01", **{metric: [30 * MB] * 3})
    drafts = runner.conclude_all(rules.of_whole(), make.evidence(NFS, RAID1))
    assert {draft.rule for draft in drafts if own & {*draft.trials} and draft.kind == DOUBT}
    resting = {draft.rule for draft in drafts if own & {*draft.trials} and draft.kind != DOUBT}
    assert not resting & {"storage-clients", "storage-record-size", "storage-share-of-disk", "limiting-layer"}


def test_tasks_that_the_network_carries_are_told_of():
    rates = {count: [value / 30 for value in values] for count, values in BEYOND_NETWORK.items()}
    assert concluded(swept("threads", rates).evidence(NFS), "storage-clients")


def test_clients_beyond_what_their_links_carry_are_not():
    make = sweep("clients", BEYOND_NETWORK, metric="read", clients=CLIENTS)
    assert concluded(make.evidence(GPFS), "storage-clients") == {}
