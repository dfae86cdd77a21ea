"""A sentence about a curve holds at each of its points: not at its ends alone, and not for want of other columns."""

import re

import pytest

from apps.bench import tools
from apps.bench.rules import mpi
from apps.bench.rules.base import DIAGNOSIS, DOUBT
from apps.bench.rules.mpi.bounds import SENDERS, WAYS
from tests.bench.rules import sweeping
from tests.bench.rules.storing import Storing

# What sentences say of the mean at each value, the higher the better; what a family says is added with its sweeps.
EQUAL, NOISE = 0.05, 0.02
MORE = 1 + EQUAL + NOISE


def is_level(means):
    return max(means.values()) <= (1 + 2 * EQUAL) * min(means.values())


def is_best_at(means, at):
    return means[at] >= max(means.values()) / MORE


def gains_nothing(means, _title):
    return max(means.values()) <= MORE * means[min(means)]


def grows_to(means, title):
    at = int(re.search(r"up to (\d+)", title)[1])
    return is_best_at(means, at) and means[at] > means[min(means)]


def peaks_at(means, title):
    at = int(re.search(r"with (?:as few as )?(\d+) processes", title)[1])
    return is_best_at(means, at) and means[max(means)] < means[at]


def rises(means, _title):
    values = list(means.values())
    return all(later >= earlier / MORE for place, earlier in enumerate(values) for later in values[place:])


def falls_beyond(means, title):
    knee = int(re.search(r"beyond (\d+)", title)[1])
    best = max(means.values())
    return means[knee] >= best / MORE and all(mean < best * 0.98 for value, mean in means.items() if value > knee)


def is_level_from(means, title):
    knee = int(re.search(r"From (\d+) pairs", title)[1])
    return is_level({value: mean for value, mean in means.items() if value >= knee})


def worse_at(means, title):
    worse, far = map(int, re.search(r": (\d+) are worse than (\d+)", title).groups())
    return means[worse] < means[far]


def is_line(means, title):
    figures = {value: 1 / mean for value, mean in means.items()} if "latency" in title else means
    near, far = min(figures), max(figures)
    step = (figures[far] - figures[near]) / (far - near)
    off = [abs(mean - figures[near] - step * (value - near)) for value, mean in figures.items()]
    return max(off) <= EQUAL * abs(figures[far] - figures[near]) + 4 * NOISE * max(figures.values())


def worsens(means, _title):
    values = list(means.values())
    return all(later <= earlier * MORE for place, earlier in enumerate(values) for later in values[place:])


SAYINGS = {
    "mpi": {
        "gains nothing": gains_nothing,
        "gains from more processes in its I/O: up to": grows_to,
        "has its best I/O": peaks_at,
        "do not fill": rises,
        "lose to each other beyond": falls_beyond,
        "the same together": lambda means, _title: is_level(means),
        "do not get more with more pairs": lambda means, _title: is_level(means),
        "From ": is_level_from,
        "Each switch more": lambda means, title: is_line(means, title) and worsens(means, title),
        "Each step more": lambda means, title: is_line(means, title) and worsens(means, title),
        "More switches": worsens,
        "More steps": worsens,
        "explain": worse_at,
        "no effect": lambda means, _title: is_level(means),
        "is the same for": lambda means, _title: is_level(means),
    }
}
# Families whose sentences about curves are not in the table yet.
NOT_YET = frozenset({"gridftp", "layers", "path", "storage", "tcp", "workloads"})
CASES = [
    pytest.param(sweep, id=f"{family}-{number}-{'-'.join(sweep.factors)}")
    for family in SAYINGS
    for number, sweep in enumerate(sweeping.SWEEPS[family])
]


def test_every_family_is_in_the_table_or_named():
    assert SAYINGS.keys() | NOT_YET == sweeping.SWEEPS.keys()


@pytest.mark.parametrize("sweep", CASES)
def test_what_is_said_of_a_curve_holds_at_each_of_its_points(sweep):
    is_cost = sweep.metric in ("io_time", "latency")
    for seed in range(60):
        evidence = sweeping.evidence_of(sweep, seed)
        for draft in mpi.overview(evidence):
            title = str(draft.title)
            for _circumstances, cells, trials in sweeping.groups_of(sweep, evidence):
                checks = [check for words, check in SAYINGS["mpi"].items() if words in title]
                if draft.kind == DOUBT or not {*draft.evidence} <= trials or len(cells) < 2:
                    continue
                means = {value: sum(own) / len(own) for value, own in sorted(cells.items(), key=lambda item: item[0])}
                means = {value: 1 / mean for value, mean in means.items()} if is_cost else means
                assert all(check(means, title) for check in checks), f"seed {seed}: {title}: {means}"


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ({1: 60, 4: 100, 16: 301, 64: 200}, "has its best I/O with 16 processes, ×5.02 of 1; 64 have ×0.66"),
        ({1: 100, 4: 100, 16: 100, 64: 40}, "has its best I/O with as few as"),
        ({1: 100, 4: 101, 16: 99, 64: 100}, "gains nothing from more processes"),
        ({1: 100, 4: 200, 16: 300, 64: 301}, "up to 16 of them"),
    ],
)
def test_a_peak_between_the_fewest_and_the_most_processes_is_told(rates, told):
    make = Storing()
    for ranks, rate in rates.items():
        values = [rate * 1e6 * factor for factor in (0.999, 1, 1.001)]
        make.mpi("btio", {"io_rate": values}, problem="B", ranks=ranks, file_system="gpfs")
    [title] = [str(draft.title) for draft in mpi.overview(make.evidence()) if draft.rule == "mpi-ranks"]
    assert told in title


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
