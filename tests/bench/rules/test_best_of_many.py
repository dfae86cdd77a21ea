"""What is the best of many settings by chance is told as no level: of no layer's limit, of no number of streams."""

import random

import pytest

from apps.bench.rules import ask_whole, runner
from apps.bench.rules.tcp import streams
from tests.bench.rules.cases import Maker, evidence
from tests.bench.rules.storing import CLIENTS, GIB, MB, NFS, Storing

SETTINGS = [(record, threads) for record in (65536, 262144, 1048576, 4194304) for threads in (1, 2, 4)]
CARRIED = 123.2


def _names_the_network(share, cv, n, count, seed):
    draw, make = random.Random(f"{share} {cv} {n} {count} {seed}"), Storing()
    for record, threads in SETTINGS[:count]:
        make.point(
            "file-system",
            {"write": [share * CARRIED * MB * draw.lognormvariate(0, cv) for _trial in range(n)]},
            tool="iozone",
            file_system="NFS_PGFS01",
            roles={"client": CLIENTS[:1]},
            file_size=64 * GIB,
            record_size=record,
            threads=threads,
        )
    make.tcp("KGFS01", "PGFS01", [985, 986, 985], direction="forward", streams=1, window=0)
    drafts = runner.drafts_of(ask_whole(make.evidence(NFS)))
    return any(draft.rule == "limiting-layer" and "network is" in str(draft.title) for draft in drafts)


@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("n", [1, 3])
def test_a_network_with_room_is_hardly_ever_named_whatever_was_tried(n, count):
    named = sum(_names_the_network(0.81, 0.10, n, count, seed) for seed in range(40))
    assert named <= 2


@pytest.mark.parametrize("count", [1, 12])
def test_a_full_network_is_named(count):
    assert sum(_names_the_network(0.98, 0.01, 3, count, seed) for seed in range(10)) == 10


@pytest.mark.parametrize("cv", [0.02, 0.05])
def test_several_streams_are_called_enough_only_where_one_has_less(cv):
    said = 0
    for seed in range(60):
        draw, make = random.Random(f"{cv} {seed}"), Maker()
        flat = {n: [600 * draw.lognormvariate(0, cv) for _trial in range(3)] for n in (1, 2, 4, 8, 16)}
        draft = streams.conclude(evidence([make.ping(0.0048), *make.stream_sweep(flat)]))
        said += draft is not None and draft.value > 1
    assert said <= 1
