"""How pairs of processes share a port: evenly only where each number of them does, and at most what it carries."""

import pytest

from apps.bench import tools
from apps.bench.rules import mpi
from apps.bench.rules.base import DIAGNOSIS, DOUBT
from apps.bench.rules.mpi.bounds import SENDERS, WAYS
from tests.bench.rules.storing import Storing


def shares(columns, *, size=2**20, rate=11_500e6):
    """Return what is said of pairs with the same aggregate; columns are {pairs: {metric: value}}."""
    make = Storing()
    for pairs, beside in columns.items():
        metrics = {name: [value] * 3 for name, value in beside.items()}
        make.mpi(
            "mpi-contention",
            {"aggregate": [rate * factor for factor in (0.998, 1, 1.002)], **metrics},
            pairs=pairs,
            message_size=size,
        )
    evidence = make.evidence(interconnects=dict.fromkeys(("t1", "t2"), "InfiniBand EDR"))
    return [draft for draft in mpi.overview(evidence) if draft.rule in ("mpi-contention", "mpi-port-bound")]


def contention(columns):
    """Return what is said of how pairs share."""
    [draft] = [draft for draft in shares(columns) if draft.rule == "mpi-contention"]
    return draft


COUNTS = (1, 2, 4, 8)
EVENLY = "share their bandwidth evenly"


@pytest.mark.parametrize("at", COUNTS[1:])
@pytest.mark.parametrize(
    ("metric", "fair", "unfair"),
    [
        ("fairness", lambda _n: 0.99, lambda _n: 0.55),
        ("bandwidth_least", lambda n: 11_400e6 / n, lambda n: 11_500e6 / n / 30),
    ],
)
def test_one_number_of_pairs_that_do_not_share_evenly_speaks_against_all(at, metric, fair, unfair):
    even = {count: {metric: fair(count)} for count in COUNTS}
    assert EVENLY in str(contention(even).title)
    draft = contention({**even, at: {metric: unfair(at)}})
    assert draft.kind == DIAGNOSIS
    assert f"unevenly: of {at} " in str(draft.title)
    # Not measured at one of them: nobody knows.
    draft = contention({**even, at: {}})
    assert "how they share it was not measured" in str(draft.title)
    assert draft.missing


def test_a_pairs_mean_that_contradicts_the_aggregate_is_told():
    columns = {count: {"fairness": 0.99, "bandwidth_pair": 11_500e6 / count} for count in COUNTS}
    assert EVENLY in str(contention(columns).title)
    draft = contention({**columns, 4: {"fairness": 0.99, "bandwidth_pair": 1e9}})
    assert EVENLY not in str(draft.title)
    assert "times their number is not" in str(draft.against[0])


@pytest.mark.parametrize("size", [1, 8, 1024, 16 * 1024])
def test_small_messages_share_no_bandwidth_and_reach_no_share_of_a_port(size):
    columns = {count: {"fairness": 0.99} for count in COUNTS}
    drafts = shares(columns, size=size, rate=60e6)
    assert [draft.rule for draft in drafts] == ["mpi-contention"]
    assert "do not get more" in str(drafts[0].title)
    assert EVENLY not in str(drafts[0].title)


# What benchmarks count: one way, both ways, or nothing that a port carries.
PORT = 12.5e9
BENCHMARKS = [
    (slug, benchmark)
    for slug in (*WAYS, *sorted(SENDERS))
    for parameter in tools.get(slug).parameters
    if parameter.name == "benchmark"
    for benchmark, _words in parameter.choices
]
BOTH_WAYS = {"osu_bibw", "Sendrecv", "Exchange"}
ONE_WAY = {"osu_bw", "osu_mbw_mr", "PingPong", "PingPing", "NPopenmpi", "NPmpich2", "mpi4py"}


def test_every_rate_of_messages_between_nodes_is_of_a_known_tool():
    known = {*WAYS, *SENDERS}
    slugs = {tool.slug for tool in tools.all_tools() if tool.group == "mpi" and tool.slug not in known}
    assert not {slug for slug in slugs if {m.name for m in tools.get(slug).metrics} & {"bandwidth", "aggregate"}}


@pytest.mark.parametrize(("slug", "benchmark"), BENCHMARKS)
def test_a_rate_is_held_against_the_port_as_its_benchmark_counts(slug, benchmark):
    ways = 2 if benchmark in BOTH_WAYS else 1 if benchmark in ONE_WAY else 0
    metric = "aggregate" if slug == "mpi-contention" else "bandwidth"

    def kinds(rate, nodes=("t1", "t2"), **more):
        make = Storing().mpi(slug, {metric: [rate, rate * 1.001]}, nodes, benchmark=benchmark, **more)
        evidence = make.evidence(interconnects=dict.fromkeys(nodes, "InfiniBand 4X EDR"))
        return [draft.kind for draft in mpi.overview(evidence) if draft.rule == "mpi-port-bound"]

    if not ways:
        assert kinds(PORT * 3) == kinds(PORT / 3) == []
        return
    assert kinds(0.95 * ways * PORT) == ["no-change"]
    assert kinds(0.5 * ways * PORT) == [DIAGNOSIS]
    assert kinds(1.1 * ways * PORT) == [DOUBT]
    assert kinds(1.1 * ways * PORT, ("t1", "t2", "t3", "t4"), pairs=2) == []
    assert kinds(0.95 * ways * PORT, message_size=8) == ["no-change"]
    assert kinds(0.5 * ways * PORT, message_size=8) == []
    if slug == "imb":
        assert kinds(1.1 * ways * PORT, ranks=4) == []
