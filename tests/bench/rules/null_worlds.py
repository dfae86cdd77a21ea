"""Worlds in which many settings were measured: all truly equal, or one side of them better by a known gain."""

import random
from collections.abc import Callable, Iterator

from apps.bench import rules, tools
from apps.bench.rules.base import DIAGNOSIS, RECOMMENDATION, Evidence, FileSystemFacts
from tests.bench.rules.cases import KIB, Maker, evidence
from tests.bench.rules.storing import CLIENTS, GIB, GPFS, MB, Storing

MIB = KIB * KIB
GRIDFTP = tools.get("gridftp")
TWO_NODES = {"node": ("a", "b")}


class Draw:
    """Draws n repetitions around a rate with normal noise of a CV."""

    def __init__(self, seed, cv, n):
        self.random, self.cv, self.n = random.Random(f"{seed} {cv} {n}"), cv, n

    def __call__(self, rate):
        return [rate * max(0.3, self.random.gauss(1, self.cv)) for _trial in range(self.n)]


def transfers(draw, gain):
    make = Maker()
    return evidence(
        make.point(
            GRIDFTP,
            {"streams": streams, "window": window},
            *({"throughput": rate} for rate in draw(30e6 * (gain if streams > 1 else 1))),
        )
        for streams in (1, 2, 4, 8)
        for window in (0, MIB, 4 * MIB)
    )


def streams(draw, gain):
    make = Maker()
    return evidence(
        [
            make.ping(0.0048, 0.0049),
            *(make.tcp(draw(300e6 * (gain if count > 1 else 1)), streams=count) for count in (1, 2, 4, 8, 16)),
        ]
    )


def windows(draw, gain):
    make = Maker()
    return evidence(
        [
            make.ping(0.0048, 0.0049),
            *(
                make.tcp(draw(300e6 * (gain if window > MIB else 1)), window=window, observed=2e6)
                for window in (0, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB)
            ),
        ]
    )


def asked_windows(draw, gain):
    make = Maker()
    return evidence(
        [
            make.ping(0.0048, 0.0049),
            *(
                make.tcp(draw(300e6 * (1 if window else gain)), window=window, observed=2e6)
                for window in (0, 512 * KIB, MIB, 2 * MIB, 4 * MIB)
            ),
        ]
    )


def controls(draw, gain):
    make = Maker()
    names = ("", "bbr", "reno", "cubic", "htcp")
    return evidence(
        [
            make.ping(0.0048, 0.0049),
            *(
                make.tcp(draw(300e6 * (gain if name == "bbr" else 1)), congestion=name, observed=2e6)
                for name in names
            ),
        ]
    )


def segments(draw, gain):
    make = Maker()
    return evidence(
        [
            make.ping(0.0048, 0.0049),
            *(
                make.tcp(draw(300e6 * (gain if mss > 4000 else 1)), mss=mss, observed=2e6)
                for mss in (536, 1448, 8948)
            ),
        ]
    )


def paces(draw, gain):
    make = Maker()
    return evidence(
        [
            make.ping(0.0048, 0.0049),
            *(
                make.tcp(draw(300e6 * (gain if pace else 1)), pace=pace, observed=2e6)
                for pace in (0, 350_000_000, 500_000_000, 700_000_000)
            ),
        ]
    )


def records(draw, gain):
    """One client, the larger records with the gain."""
    make = Storing()
    for record in (65536, 262144, MIB, 4 * MIB, 16 * MIB):
        better = gain if record >= MIB else 1
        make.point(
            "file-system",
            {"write": draw(20 * MB * better), "read": draw(20 * MB * better)},
            file_system=GPFS.name,
            roles={"client": CLIENTS[:1]},
            file_size=4 * GIB,
            record_size=record,
        )
    return make.evidence(GPFS)


def clients(draw, gain):
    """Three clients and more with the gain."""
    make = Storing()
    for count in (1, 2, 3, 4):
        better = gain if count > 2 else 1
        make.point(
            "file-system",
            {"write": draw(20 * MB * better), "read": draw(20 * MB * better)},
            file_system=GPFS.name,
            roles={"client": CLIENTS},
            file_size=4 * GIB,
            record_size=262144,
            clients=count,
        )
    return make.evidence(GPFS)


def files(draw, gain):
    """Record sizes times clients, one of each factor's sides with the gain."""
    make = Storing()
    for record in (65536, 262144, MIB, 4 * MIB):
        for count in (1, 2, 4):
            better = gain if record >= MIB or count > 1 else 1
            make.point(
                "file-system",
                {"write": draw(20 * MB * better), "read": draw(20 * MB * better)},
                file_system=GPFS.name,
                roles={"client": CLIENTS[:count]},
                file_size=4 * GIB,
                record_size=record,
                clients=count,
            )
    return make.evidence(GPFS)


def file_systems(draw, gain):
    make = Storing()
    facts = [FileSystemFacts(f"FS{place}", "nfs", None, ("PGFS01",)) for place in range(5)]
    for item in facts:
        better = gain if item.name == "FS3" else 1
        for count in (1, 4):
            make.point(
                "file-system",
                {"write": draw(20 * MB * better), "read": draw(20 * MB * better)},
                file_system=item.name,
                roles={"client": CLIENTS[:count]},
                file_size=4 * GIB,
                record_size=262144,
                clients=count,
            )
    return make.evidence(*facts)


def sockets(draw, gain):
    make = Storing()
    for placement in ("same-socket", "other-socket"):
        better = gain if placement == "same-socket" else 1
        for size in (8, KIB, 64 * KIB, MIB):
            make.mpi(
                "osu-bandwidth", {"bandwidth": draw(3000 * MB * better)}, ("n1",), message_size=size,
                placement=placement,
            )  # fmt: skip
            make.mpi("osu-latency", {"latency": draw(2e-6 / better)}, ("n1",), message_size=size, placement=placement)
    return make.evidence()


def distances(draw, gain):
    make = Storing()
    for distance in (1, 3, 5):
        for size in (8, KIB, 64 * KIB):
            time = 2e-6 * (1 + (gain - 1) * (distance - 1) / 2)
            make.mpi(
                "osu-latency", {"latency": draw(time)}, placement="other-node", distance=distance, message_size=size
            )
    return make.evidence()


def _btio(make, draw, rate, **setting):
    parameters = {
        "problem": "B", "subtype": "full", "node_placement": "BAL", "core_placement": "DIST", "ranks": 16,
        "collective_nodes": 0, "collective_size": MIB, **setting,
    }  # fmt: skip
    make.point(
        "file-system", {"io_rate": draw(rate)}, tool="btio", file_system=GPFS.name, roles=TWO_NODES, **parameters
    )


def placements(draw, gain):
    make = Storing()
    for nodes in ("BAL", "UNBAL"):
        for cores in ("DIST", "ACC"):
            for ranks in (4, 16, 64):
                better = gain ** ((nodes == "BAL") + (cores == "DIST"))
                _btio(make, draw, 100 * MB * better, node_placement=nodes, core_placement=cores, ranks=ranks)
    return make.evidence(GPFS)


def ranks(draw, gain):
    make = Storing()
    for count in (4, 16, 36, 64):
        _btio(make, draw, 20 * MB * (gain if count > 16 else 1), ranks=count)
    return make.evidence(GPFS)


def subtypes(draw, gain):
    make = Storing()
    for subtype in ("full", "simple", "epio", "fortran"):
        _btio(make, draw, 100 * MB * (gain if subtype == "full" else 1), subtype=subtype)
    return make.evidence(GPFS)


def collective(draw, gain):
    make = Storing()
    for size in (MIB, 4 * MIB, 16 * MIB, 64 * MIB):
        for count in (0, 2, 4):
            better = gain ** ((size > MIB) + (count == 4))
            _btio(make, draw, 100 * MB * better, collective_nodes=count, collective_size=size)
    return make.evidence(GPFS)


World = Callable[[Draw, float], Evidence]
OF_ENDS: tuple[World, ...] = (transfers, streams, windows, asked_windows, controls, segments, paces)
OF_WHOLE: tuple[World, ...] = (
    records, clients, files, file_systems, sockets, distances, placements, ranks, subtypes, collective,
)  # fmt: skip


# Rules that name a count or a file system as the best, in their titles, with nothing to paste.
BY_TITLE = {"storage-clients", "mpi-ranks", "workload-best"}


def advising(world: World, draw: Draw, gain: float) -> Iterator[str]:
    """Return the rules that advise a change, or name a setting as the better one, in a world."""
    ask = rules.ask_ends if world in OF_ENDS else rules.ask_whole
    for answer in ask(world(draw, gain)):
        assert answer.failure is None, answer.failure
        named = {DIAGNOSIS} if answer.rule.name in BY_TITLE else set()
        if any(draft.kind == RECOMMENDATION or draft.change or draft.kind in named for draft in answer.drafts):
            yield answer.rule.name
