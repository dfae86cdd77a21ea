"""What is the best of many settings by chance is told as no level: of no layer's limit, of no number of streams."""

import random
from collections import Counter

import pytest

from apps.bench.rules import ask_ends, ask_whole, registered, runner
from apps.bench.rules.base import DOUBT, NO_CHANGE
from apps.bench.rules.tcp import streams
from tests.bench.rules import null_worlds
from tests.bench.rules.cases import Maker, evidence
from tests.bench.rules.storing import CLIENTS, GIB, MB, NFS, Storing

# Each rule that advises the better of settings measured, with a world in which it does where one of them is better.
CHOOSING = {
    "gridftp-options": null_worlds.transfers,
    "gridftp-parallel": null_worlds.transfers,
    "tcp-bdp": null_worlds.streams,
    "tcp-sysctl": null_worlds.streams,
    "tcp-streams": null_worlds.streams,
    "tcp-window-knee": null_worlds.windows,
    "tcp-autotuning": null_worlds.asked_windows,
    "tcp-congestion": null_worlds.controls,
    "mpi-affinity": null_worlds.sockets,
    "mpi-distance": null_worlds.distances,
    "mpi-node-placement": null_worlds.placements,
    "mpi-core-placement": null_worlds.placements,
    "mpi-collective": null_worlds.subtypes,
    "mpi-collective-nodes": null_worlds.collective,
    "mpi-collective-size": null_worlds.collective,
    "mpi-ranks": null_worlds.ranks,
    "storage-record-size": null_worlds.records,
    "storage-clients": null_worlds.clients,
    "workload-best": null_worlds.file_systems,
}
# The others, by why nothing of theirs is the best of many settings.
NAMES_ONLY = "names what was measured, and advises no setting"
BY_FACTS = "advises by what nodes, links or counters tell, not by the best of settings"
OTHERS = {
    **dict.fromkeys(
        [
            "path-capacity",
            "path-bottleneck",
            "path-loss",
            "path-datagrams",
            "path-modes",
            "path-levels",
            "path-directions",
            "path-silence",
            "path-interface",
            "path-route",
            "path-silence",
            "tcp-limit",
            "tcp-per-flow-limit",
            "limiting-layer",
            "undecided-layer",
            "cache-effect",
            "mpi-port-bound",
            "mpi-contention",
            "storage-clients-alike",
            "storage-cached-reads",
            "storage-share-of-disk",
            "storage-modes",
            "storage-silence",
            "workload-nodes",
        ],
        NAMES_ONLY,
    ),
    **dict.fromkeys(
        [
            "tcp-buffer-maxima",
            "tcp-pacing",
            "tcp-mtu",
            "tcp-window-scaling",
            "tcp-sack",
            "tcp-timestamps",
            "tcp-path-mtu",
            "mpi-collective-buffer",
            "storage-connections",
            "storage-nfs-transfer",
            "storage-lustre-requests",
            "storage-gpfs-sockets",
            "storage-gpfs-client",
            "mpi-file-system-block",
        ],
        BY_FACTS,
    ),
}
GAIN, LEAST_WORLDS, WRONG = 2.0, 6, 0.05
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


def test_no_rule_is_left_out():
    assert CHOOSING.keys() & OTHERS.keys() == set()
    assert {rule.name for rule in registered()} == CHOOSING.keys() | OTHERS.keys()


@pytest.mark.parametrize("rule", CHOOSING)
def test_what_is_better_by_far_is_advised(rule):
    assert rule in set(null_worlds.advising(CHOOSING[rule], null_worlds.Draw(1, 0.01, 5), GAIN))


@pytest.mark.parametrize("world", [*null_worlds.OF_ENDS, *null_worlds.OF_WHOLE], ids=lambda world: world.__name__)
def test_where_all_settings_are_equal_hardly_any_is_advised(world):
    cells = [(cv, n) for cv in (0.03, 0.07, 0.10) for n in (3, 5, 10)]
    advised = Counter(
        rule
        for cv, n in cells
        for seed in range(LEAST_WORLDS)
        for rule in {*null_worlds.advising(world, null_worlds.Draw(seed, cv, n), 1.0)}
    )
    assert not {rule: count for rule, count in advised.items() if count > WRONG * LEAST_WORLDS * len(cells)}


@pytest.mark.parametrize("cv", [0.05, 0.10])
@pytest.mark.parametrize("n", [1, 2])
def test_streams_of_transfers_that_hardly_anybody_repeated_gain_nothing_by_chance(n, cv):
    gains = sum(
        # Of lone figures it doubts even that they gain nothing.
        draft.rule == "gridftp-parallel" and draft.kind not in (NO_CHANGE, DOUBT)
        for seed in range(30)
        for draft in runner.drafts_of(ask_ends(null_worlds.transfers(null_worlds.Draw(seed, cv, n), 1.0)))
    )
    assert gains <= 2
