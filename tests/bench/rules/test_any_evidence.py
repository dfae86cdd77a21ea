"""Whatever the evidence holds, the rules of storage, layers, MPI and workloads answer or keep silent."""

import json
import math

from hypothesis import given, seed, settings
from hypothesis import strategies as st

from apps.bench.rules import layers, mpi, storage, workloads
from apps.bench.rules.base import (
    DISK,
    FILE_SYSTEM,
    INTERCONNECT,
    NETWORK,
    Evidence,
    FileSystemFacts,
    LinkFacts,
    PathFacts,
    Point,
    Ratio,
    Trend,
)
from apps.bench.rules.workloads import PATTERNS, Workload
from tests.rotation import SEED, number_of

NODES = ("a", "b", "c")
NAMES = ("one", "two")
values = st.dictionaries(
    st.integers(1, 99), st.sampled_from([0.0, 1e-3, 13e6, 14e6, 80e6, 115e6, 1e12]), min_size=1, max_size=9
)
metrics = st.dictionaries(
    st.sampled_from(
        ["write", "read", "reread", "goodput", "rtt_min", "io_rate", "io_time", "bandwidth", "aggregate", "fairness"]
    ),
    values,
    max_size=3,
)
parameters = st.dictionaries(
    st.sampled_from(
        [
            "clients",
            "threads",
            "record_size",
            "file_size",
            "streams",
            "distance",
            "pairs",
            "ranks",
            "collective_size",
            "block_size",
        ]
    ),
    st.sampled_from([0, 1, 2, 4, 65536, 1048576]),
    max_size=4,
)
words = st.fixed_dictionaries(
    {},
    optional={
        "placement": st.sampled_from(["same-socket", "other-socket", "other-node"]),
        "direction": st.sampled_from(["forward", "reverse"]),
        "problem": st.sampled_from(["A", "C", "?"]),
        "pattern": st.sampled_from(PATTERNS),
    },
)
points = st.builds(
    lambda params, more, **rest: Point({**params, **more}, **rest),
    params=parameters,
    more=words,
    metrics=metrics,
    tool=st.sampled_from(["iozone", "fio", "ior", "btio", "iperf3-tcp", "osu-bandwidth", "mpi-contention", "mdtest"]),
    layer=st.sampled_from([NETWORK, DISK, FILE_SYSTEM, INTERCONNECT, ""]),
    roles=st.dictionaries(
        st.sampled_from(["client", "server", "node"]),
        st.lists(st.sampled_from(NODES), max_size=3).map(tuple),
        max_size=2,
    ),
    file_system=st.sampled_from([*NAMES, ""]),
    statistic=st.sampled_from(["sample", "mode", "about", "below", "at-least"]),
)
file_systems = st.dictionaries(
    st.sampled_from(NAMES),
    st.builds(
        FileSystemFacts,
        name=st.sampled_from(NAMES),
        kind=st.sampled_from(["gpfs", "nfs", "lustre", "ext", "other"]),
        block_size_bytes=st.sampled_from([None, 262144]),
        servers=st.lists(st.sampled_from(NODES), unique=True, max_size=2).map(tuple),
        options=st.dictionaries(
            st.sampled_from(
                ["nconnect", "wsize", "rsize", "stripe_count", "pagepool", "maxMBpS", "socketRcvBufferSize"]
            ),
            st.sampled_from([True, "x", 0, 1, 4096, -5]),
            max_size=3,
        ),
        disk_rates=st.sampled_from([{}, {"write": 1e8}, {"write": 1e8, "read": 3e8}]),
    ),
)
links = st.builds(LinkFacts, name=st.sampled_from(["l", "m"]), capacity_bps=st.sampled_from([None, 1e6, 1e9]))
paths = st.dictionaries(
    st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)),
    st.builds(
        PathFacts,
        capacity_bps=st.sampled_from([None, 1e9]),
        rtt_s=st.sampled_from([None, 0, 0.0048]),
        mtu=st.sampled_from([None, 1, 9000]),
        links=st.lists(links, max_size=2).map(tuple),
        bottleneck=st.sampled_from(["", "l"]),
    ),
    max_size=4,
)
sides = st.fixed_dictionaries(
    {},
    optional={
        "placement": st.sampled_from(["same-socket", "other-socket"]),
        "testbed": st.sampled_from(["T1", "T2"]),
        "file_system": st.sampled_from(NAMES),
        "node_placement": st.sampled_from(["BAL", "UNBAL"]),
        "file_system_block": st.sampled_from([524288, 1048576]),
    },
)
ratios = st.builds(
    Ratio,
    tool=st.sampled_from(["iozone", "btio", "osu-bandwidth"]),
    metric=st.sampled_from(["write", "io_rate", "io_time", "bandwidth"]),
    of=sides,
    to=sides,
    low=st.sampled_from([0.0, 0.6, 1.0, 5.0]),
    high=st.sampled_from([0.7, 1.0, 5.0, math.inf]),
).filter(lambda ratio: ratio.low <= ratio.high)
trends = st.builds(
    Trend,
    tool=st.sampled_from(["iozone", "btio", "mpi-contention", ""]),
    metric=st.sampled_from(["write", "io_rate", "io_time", "aggregate"]),
    factor=st.sampled_from(
        ["clients", "tasks", "record_size", "ranks", "pairs", "file_system_block", "core_placement"]
    ),
    shape=st.sampled_from(["rises", "flat", "falls", "saturates"]),
    knee=st.sampled_from([None, 0.0, 3.0]),
    best=st.sampled_from([None, 0.0, 1e8]),
    file_system=st.sampled_from([*NAMES, ""]),
    fixed=words,
)


@seed(SEED)
@settings(max_examples=number_of(60), deadline=None, database=None)
@given(
    st.lists(points, max_size=12).map(tuple),
    file_systems,
    paths,
    st.lists(ratios, max_size=3).map(tuple),
    st.lists(trends, max_size=3).map(tuple),
)
def test_any_evidence_is_answered_with_findings_that_can_be_stored(sample, systems, ways, related, shapes):
    facts = {name: FileSystemFacts(name, *list(vars(item).values())[1:]) for name, item in systems.items()}
    ports = {"a": "InfiniBand 4X DDR", "b": "IB QDR"}
    evidence = Evidence(sample, interconnects=ports, paths=ways, file_systems=facts, ratios=related, trends=shapes)
    for family in (layers, storage, mpi, workloads):
        for draft in family.overview(evidence):
            document = json.loads(json.dumps(draft.as_json(), allow_nan=False))
            assert 0 < draft.confidence <= 0.95
            assert len(draft.rule) <= 50
            assert len(draft.subject) <= 200
            assert len(draft.unit) <= 10
            for message in (document["title"], *document["why"], *document["against"], *document["missing"]):
                assert message["msgid"] % message["params"]
    layers.table(evidence)
    for pattern in PATTERNS:
        for fit in workloads.fit(evidence, Workload(pattern, 4096, nodes=2, tasks=2, record_size=4096, wanted=1e7)):
            assert fit.low is fit.high is None or 0 <= fit.low <= fit.high * 1.0001
