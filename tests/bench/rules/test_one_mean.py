"""Rules say of repeated figures what the tables say: of rates of equal work the harmonic mean."""

import random
import re

from apps.bench import statistics
from apps.bench.rules import of_ends, of_whole
from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.runner import conclude_all
from apps.bench.statistics import Mean
from apps.bench.units import format_quantity
from tests import sayings
from tests.bench.rules.storing import CLIENTS, GPFS, MB, NFS, RAID1, SAN, Storing

MIB = 1024**2
QDR = {"t1": "InfiniBand QDR", "t2": "InfiniBand QDR"}
# What a rate is a part of: the network's are over equal times.
RATES = re.compile(r"\d[\d.]* [kMG]B/s")


def scattered(chance: random.Random, rate: float) -> list[float]:
    """Return three repetitions about 5 % apart, whose two means differ in the figures that are shown."""
    return [rate * MB * factor * chance.uniform(0.99, 1.01) for factor in (0.92, 1.0, 1.09)]


def evidence(chance: random.Random) -> Evidence:
    """Return sweeps of every kind whose trials move a set amount."""
    make = Storing()
    for rate in (940, 942):
        make.tcp("KGFS01", "PGFS01", [rate, rate + 1, rate - 1], streams=5, direction="forward")
    fixed = {"file_size": 4 * 1024**3, "threads": 1}
    for clients, rate in ((1, chance.uniform(8, 14)), (2, 22), (4, 45)):
        rates = {name: scattered(chance, rate) for name in ("write", "read", "reread")}
        roles = {"client": CLIENTS}
        make.point(
            "file-system", rates, file_system="GPFS_PDAISY", roles=roles, record_size=MIB, clients=clients, **fixed
        )
    for record, rate in ((65536, 5), (262144, 8), (4 * MIB, 24)):
        rates = {"write": scattered(chance, rate), "read": scattered(chance, 3 * rate)}
        roles = {"client": CLIENTS[:1]}
        make.point("file-system", rates, file_system="NFS_PGFS01", roles=roles, record_size=record, **fixed)
    for name, server, rate in (("RAID1", "PGFS01", 60), ("SAN", "PGFS02", 264)):
        make.disk(name, server, write=scattered(chance, rate), read=scattered(chance, 2 * rate))
    for pairs, rate in ((1, 800), (2, 1500), (4, 1600), (8, 1610)):
        make.mpi("mpi-contention", {"aggregate": scattered(chance, rate)}, pairs=pairs, message_size=MIB)
    make.mpi("osu-bandwidth", {"bandwidth": scattered(chance, 2500)}, placement="other-node", message_size=MIB)
    for placement, rate in (("same-socket", 5000), ("other-socket", 2400)):
        rates = {"bandwidth": scattered(chance, rate)}
        make.mpi("osu-bandwidth", rates, ("n1",), placement=placement, message_size=MIB)
    ends = {"source": ("KGFS01",), "destination": ("PGFS01",), "client": ("KGFS02",)}
    for streams, window, rate in ((1, 65536, 12), (1, MIB, 80), (4, 65536, 45), (4, MIB, 108)):
        options = {"streams": streams, "window": window, "concurrency": 1, "pipelining": False, "size": 512 * MIB}
        rates = {"throughput": scattered(chance, rate)}
        make.point("network", rates, tool="gridftp-third-party", roles=ends, **options)
    return make.evidence(GPFS, SAN, NFS, RAID1, interconnects=QDR)


def texts_of(draft: FindingDraft) -> str:
    data = draft.as_json()
    texts = [sayings.filled(message) for message in sayings.messages_of(data)]
    figures = [data[name] for name in ("value", "present", "predicted") if data[name] is not None]
    return " ".join([*texts, draft.formula, *(format_quantity(figure, "B/s") for figure in figures)])


def test_no_rule_says_an_arithmetic_mean_where_the_tables_have_a_harmonic_one() -> None:
    chance, saying = random.Random(3), set()
    for _turn in range(20):
        measurements = evidence(chance)
        means = {Mean.HARMONIC: set(), Mean.ARITHMETIC: set()}
        for point in measurements.points:
            for metric in point.harmonic & point.metrics.keys():
                for kind, texts in means.items():
                    mean = statistics.mean_of(point.values(metric), kind)
                    texts.add(format_quantity(mean, "B/s"))
        wrong = means[Mean.ARITHMETIC] - means[Mean.HARMONIC]
        for draft in conclude_all((*of_ends(), *of_whole()), measurements):
            rates = set(RATES.findall(texts_of(draft)))
            assert not rates & wrong, f"{draft.rule}: {draft.title} says {rates & wrong}"
            if rates & means[Mean.HARMONIC]:
                saying.add(draft.rule)
    print(sorted(saying))
    assert len(saying) >= 8, sorted(saying)
