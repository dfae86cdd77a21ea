"""What the network carries is one figure, and full or not, in whatever finding of one campaign it is told."""

import re

import pytest

from apps.bench.rules import layers, storage
from tests.bench.rules.storing import GIB, GPFS, MB, Storing

CEILING = re.compile(r"([\d.]+) MB/s that the network carries|X_net = [\d.]+ MB/s / ([\d.]+) MB/s")


def drafts_of(best, spread, network):
    """Return what is said of reads by more and more threads that come near all that TCP had alone (Mbit/s)."""
    make = Storing()
    for threads in range(1, 7):
        rates = [min(best, 40.0 * threads) * noise * MB for noise in (1 - spread, 1, 1, 1 + spread)]
        fixed = {"file_size": 4 * GIB, "record_size": 262144, "threads": threads}
        roles = {"client": ("KGFS01",)}
        make.point("file-system", {"read": rates}, file_system="GPFS_PDAISY", roles=roles, **fixed)
    if network:
        make.tcp("KGFS01", "PGFS01", [network - 2, network, network + 2], direction="reverse", streams=5)
    evidence = make.evidence(GPFS)
    return [*layers.overview(evidence), *storage.overview(evidence)]


@pytest.mark.parametrize("network", [None, 930, 970, 978])
@pytest.mark.parametrize("spread", [0.002, 0.02, 0.05])
@pytest.mark.parametrize("best", [104, 110, 112, 114, 118])
def test_one_curve_has_one_ceiling_and_one_verdict(best, spread, network):
    drafts = drafts_of(best, spread, network)
    texts = [str(line) for draft in drafts for line in (draft.title, *draft.why, draft.formula)]
    ceilings = {one or other for text in texts for one, other in CEILING.findall(text)}
    assert len(ceilings) <= 1, texts
    is_full = any("it is full" in text for text in texts)
    is_open = any(draft.rule == "undecided-layer" for draft in drafts)
    assert not (is_full and is_open), texts
