"""Parallel programs planned, carried out on this machine by real launchers, and read back."""

import pytest

from apps.bench.toolkit import ToolFailure
from tests.bench.tools.mpi_runs import measure, needs, this_machine

OPENMPI = [needs("mpirun", "NPopenmpi")]
MPICH = [needs("mpiexec.hydra", "NPmpich2")]
BY_LAUNCHER = [
    pytest.param("openmpi", "NPopenmpi", marks=OPENMPI, id="openmpi"),
    pytest.param("mpich", "NPmpich2", marks=MPICH, id="mpich"),
]
# A few thousand messages of few sizes: this is not the place to measure.
SHORT = {"min_size": 1024, "max_size": 4096, "iterations": 500}


def cores():
    return len(this_machine().facts["topology"]["cpus"])


@pytest.mark.parametrize(("launcher", "program"), BY_LAUNCHER)
def test_ranks_run_where_they_were_asked_to(launcher, program):
    if cores() < 2:
        pytest.skip("this machine has one processor only")
    params = {"launcher": launcher, "benchmark": program, "placement": "same-socket", **SHORT}
    reading, _outputs = measure("mpi-pingpong", [this_machine()], **params)
    assert reading.value("bandwidth") > 1e6
    assert reading.flags == ()
    assert [place["core"] for place in reading.requested["map"]] == ["0:0", "0:1"]
    assert [place["cores"] for place in reading.observed["map"]] == [["0:0"], ["0:1"]]
    assert {1024.0, 2048.0, 4096.0} <= set(reading.series[0].times)


@pytest.mark.parametrize(("launcher", "program"), BY_LAUNCHER)
def test_ranks_may_be_left_to_the_launcher(launcher, program):
    reading, _outputs = measure("mpi-pingpong", [this_machine()], launcher=launcher, benchmark=program, **SHORT)
    assert reading.value("latency") > 0
    assert reading.flags == ()


@pytest.mark.parametrize("program", [pytest.param("NPopenmpi", marks=OPENMPI)])
def test_pairs_contend_for_this_machine(program):
    reading, _outputs = measure(
        "mpi-contention", [this_machine()], benchmark=program, pairs=2, messages=20_000, message_size="16 KiB"
    )
    assert reading.value("aggregate") == pytest.approx(2 * reading.value("bandwidth_pair"))
    assert 0.5 <= reading.value("fairness") <= 1
    assert reading.value("slowdown") > 0
    assert len(reading.observed["clients"]) == 2
    assert 0 < reading.observed["overlap"] <= 1


@needs("mpirun")
@pytest.mark.parametrize(
    ("slug", "params"),
    [("osu-latency", {"max_size": 4096}), ("osu-bandwidth", {"max_size": 4096}), ("imb", {"max_size": 4096})],
)
def test_a_program_that_is_not_installed_is_named(slug, params):
    with pytest.raises(ToolFailure) as caught:
        measure(slug, [this_machine()], **params)
    assert caught.value.code == "mpi-missing-program"
    assert not caught.value.retryable


@needs("mpirun")
def test_a_node_that_cannot_be_reached_is_told():
    # 192.0.2.0/24 is documentation's own: nobody answers there.
    nodes = [this_machine(), this_machine("there", "192.0.2.9", hostname="there")]
    with pytest.raises(ToolFailure) as caught:
        measure("mpi-pingpong", nodes, placement="other-node", remote_agent="false", **SHORT)
    assert caught.value.code == "mpi-unreachable"
