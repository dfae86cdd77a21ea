"""GridFTP and the metrics of RFC 6349 across the line between KISTI and Pusan."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.bench import context, judges, tools
from apps.bench.toolkit import NodeRef, Reading
from tests.bench.tools import carrying
from tests.lab.labs import KISTI_PUSAN, REAL, LabAt

pytestmark = REAL
CAPACITY = 1e9
needs_gridftp = pytest.mark.skipif(
    shutil.which("globus-url-copy") is None or not carrying.installed("globus-gridftp-server"),
    reason="GridFTP is not installed here",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabAt]:
    lab = LabAt(tmp_path_factory.mktemp("transfers"))
    try:
        lab.up(KISTI_PUSAN)
        yield lab
    finally:
        assert lab.run("down").returncode == 0


def measure(lab: LabAt, folder: Path, slug: str, around: bool = False, **params: object) -> Reading:
    """Carry out one measurement from KISTI to Pusan."""
    state = {node["name"]: node for node in lab.state["nodes"]}
    inside = {name: tuple(node["prefix"]) for name, node in state.items()}
    here = [NodeRef(name, state[name]["data_addresses"][0]) for name in ("kisti-1", "kisti-2")]
    there = [NodeRef(name, state[name]["data_addresses"][0]) for name in ("pusan-1", "pusan-2")]
    tool = tools.get(slug)
    nodes = dict(zip([role.name for role in tool.roles], (here, there), strict=True))
    cleaned = tool.clean(params)
    plan = tool.plan(cleaned, nodes)
    plan = context.bracket(plan, nodes, tool) if around else plan
    outputs = carrying.carry_out(plan, nodes, folder, inside=inside)
    return judges.read_run(outputs, cleaned, tool, CAPACITY)


@needs_gridftp
def test_streams_add_up_while_the_window_limits_each(lab: LabAt, tmp_path: Path) -> None:
    # 64 KiB that the kernel makes about 92 KiB of, every 4.8 ms: some 17 MB/s for each stream.
    rates = []
    for streams in (1, 4):
        (tmp_path / str(streams)).mkdir()
        reading = measure(lab, tmp_path / str(streams), "gridftp", size="32 MiB", window="64 KiB", streams=streams)
        assert reading.value("window_granted") == 131072
        rates.append(reading.value("throughput"))
    assert rates[0] < 25e6
    assert 2 * rates[0] < rates[1] < 1.05 * CAPACITY / 8


@needs_gridftp
def test_a_striped_transfer_crosses_the_line_from_both_nodes(lab: LabAt, tmp_path: Path) -> None:
    reading = measure(lab, tmp_path, "gridftp", size="64 MiB", data_nodes=2, window="1 MiB")
    assert reading.granted["data_nodes"] == 2
    assert reading.value("throughput") < 1.05 * CAPACITY / 8
    assert reading.observed["rfc6349"]["transfer_time_ratio"] > 0.95


def test_a_tcp_run_has_the_metrics_of_rfc_6349_and_a_look_around_it(lab: LabAt, tmp_path: Path) -> None:
    reading = measure(lab, tmp_path, "iperf3-tcp", around=True, duration=2, omit=1, window="64 KiB")
    found = reading.observed["rfc6349"]
    # The window lets a seventh of the line's rate through.
    assert 4 < found["transfer_time_ratio"] < 40
    assert found["tcp_efficiency"] > 0.95
    assert found["baseline_source"] == "measured"
    assert found["baseline_rtt"] == pytest.approx(4.8e-3, rel=0.5)
    looks = reading.observed["context"]
    assert looks["before"]["route"] == looks["after"]["route"]
    assert [len(hop) for hop in looks["before"]["route"]] == [1, 1, 1]
    assert "suspect-route" not in [flag.name for flag in reading.flags]
