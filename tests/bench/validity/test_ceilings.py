"""A rate above what the links between two nodes carry is doubted."""

import pytest

from apps.bench import judges, tools
from apps.bench.toolkit import Reading, SampleValue
from apps.bench.validity import ceilings
from tests.bench.tools import recordings
from tests.bench.validity.making import told

GBIT = 1e9


def flags(slug: str, metric: str, value: float, capacity: float | None = GBIT) -> dict[str, str]:
    found = Reading(samples=(SampleValue(metric, value),))
    return told(ceilings.flags(found, tools.get(slug), capacity))


@pytest.mark.parametrize(
    ("slug", "metric", "most"),
    [
        ("iperf3-tcp", "goodput", 1.1e9),
        ("gridftp", "throughput", 1.1e9 / 8),
        # Benchmarks of messages may count both directions.
        ("mpi-pingpong", "bandwidth", 2.2e9 / 8),
        ("mpi-contention", "aggregate", 2.2e9 / 8),
    ],
)
def test_more_than_the_links_carry_went_another_way(slug: str, metric: str, most: float) -> None:
    assert flags(slug, metric, 0.99 * most) == {}
    assert flags(slug, metric, 1.01 * most) == {"above-capacity": "warning"}


def test_the_words_name_both_rates() -> None:
    found = Reading(samples=(SampleValue("bandwidth", 1.25e9),))
    (flag,) = ceilings.flags(found, tools.get("osu-bandwidth"), GBIT)
    assert "10.00 Gbit/s is more than the 1.000 Gbit/s" in str(flag.message)


@pytest.mark.parametrize(
    ("slug", "metric", "capacity"),
    [
        ("iperf3-tcp", "goodput", None),
        # What is offered need not be carried, and what a file system gives may come from memory.
        ("iperf3-udp", "offered_load", GBIT),
        ("fio", "read", GBIT),
        ("ping", "rtt", GBIT),
    ],
)
def test_other_figures_are_not_held_against_it(slug: str, metric: str, capacity: float | None) -> None:
    assert flags(slug, metric, 1e12, capacity) == {}


def test_only_between_two_nodes_is_the_narrowest_link_a_limit() -> None:
    tool = tools.get("iperf3-tcp")
    output = recordings.load("iperf3-tcp", "winsweep_pnu/w1M_cubic_r0.json", "client")
    params = tool.clean(tool.recover(output))
    for nodes, expected in ((2, True), (3, False), (0, False)):
        reading = judges.read_run([output], params, tool, 1e6, nodes=nodes)
        assert ("above-capacity" in told(reading.flags)) == expected
