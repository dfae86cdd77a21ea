"""GridFTP with real servers and clients on several addresses of this machine."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from apps.bench import judges, tools
from apps.bench.toolkit import NodeRef, Plan, ToolFailure
from apps.bench.tools._storage.places import PREFIX
from tests.bench.tools import carrying
from tests.ports import free_port

pytestmark = pytest.mark.skipif(
    not carrying.installed("globus-url-copy", "globus-gridftp-server"), reason="GridFTP is not installed here"
)
MiB = 2**20
# A mount that everyone may write to.
MOUNT = "/dev/shm"
on_disk = pytest.mark.skipif(not os.path.ismount(MOUNT), reason=f"{MOUNT} is no mount here")


def mark():
    """Return what sets the files of this process apart, in a folder that others use as well."""
    return f"test{os.getpid()}"


def nodes_of(ends=1, directory=""):
    return {
        "source": [NodeRef(f"kisti{n}", f"127.0.2.{n}", directory, mark=mark()) for n in range(1, ends + 1)],
        "destination": [NodeRef(f"pusan{n}", f"127.0.3.{n}", directory, mark=mark()) for n in range(1, ends + 1)],
        "client": [NodeRef("desk", "127.0.4.1", directory, mark=mark())],
    }


def run(folder, slug="gridftp", nodes=None, disturb=None, after_s=0.5, **params):
    tool, nodes = tools.get(slug), nodes or nodes_of()
    cleaned = tool.clean({"size": "64 MiB", "port": free_port(in_a_row=2), "time_limit": 60, **params})
    outputs = carrying.carry_out(tool.plan(cleaned, nodes), nodes, folder, disturb, after_s)
    return judges.read_run(outputs, cleaned, tool)


def left_behind():
    return [path.name for path in Path(MOUNT).glob(f"{PREFIX}{mark()}-*")]


def test_third_party_moves_memory_with_streams_and_a_window(tmp_path):
    reading = run(tmp_path, streams=4, window="256 KiB", size="256 MiB")
    assert reading.value("transferred") == 256 * MiB
    assert reading.value("throughput") == pytest.approx(256 * MiB / reading.value("transfer_time"))
    assert reading.value("setup_time") > 0
    assert reading.value("retransmits") >= 0
    assert reading.granted["streams"] == 4
    assert reading.granted["block_size"] == 256 * 1024
    assert reading.value("window_granted") == reading.granted["send_buffer"]
    assert reading.observed["timed_by"] == "server-log"


def test_the_client_may_run_on_a_third_node(tmp_path):
    reading = run(tmp_path, "gridftp-third-party", block_size="1 MiB")
    assert reading.value("transferred") == 64 * MiB
    assert reading.granted["block_size"] == MiB


@pytest.mark.parametrize("mode", ["push", "pull"])
def test_two_party_has_one_server(tmp_path, mode):
    reading = run(tmp_path, mode=mode, streams=2)
    assert reading.value("transferred") == 64 * MiB
    assert reading.observed["timed_by"] == "server-log"


def test_a_striped_transfer_goes_over_all_data_nodes(tmp_path):
    reading = run(tmp_path, nodes=nodes_of(2), data_nodes=0, streams=2, size="512 MiB")
    # Each data node sends whole stripe blocks.
    assert 512 * MiB <= reading.value("transferred") <= 514 * MiB
    assert reading.granted["data_nodes"] == 2
    assert [share["node"] for share in reading.observed["data_node_shares"]] == ["pusan1", "pusan2"]


def test_many_files_go_several_at_once(tmp_path):
    reading = run(tmp_path, files=12, size="4 MiB", concurrency=3, pipelining=True)
    assert reading.value("transferred") == 48 * MiB
    assert reading.value("file_rate") == pytest.approx(12 / reading.value("transfer_time"))
    assert reading.series == ()


def test_a_transfer_can_end_after_a_time(tmp_path):
    reading = run(tmp_path, size="1 TiB", duration=6, window="4 KiB")
    assert 5 < reading.value("transfer_time") < 9
    assert len(reading.series) in (0, 2)


@on_disk
@pytest.mark.parametrize("offset", [0, "1 MiB"])
def test_files_go_from_disk_to_disk_and_nothing_stays_behind(tmp_path, offset):
    extra = {} if offset else {"verify": True}
    nodes = nodes_of(directory=MOUNT)
    reading = run(
        tmp_path, nodes=nodes, read_from="file", write_to="file", files=2, size="8 MiB", offset=offset, **extra
    )
    assert reading.value("transferred") == 16 * MiB
    assert reading.observed["file_system"] == "tmpfs"
    assert "memory-file-system" in [flag.name for flag in reading.flags]
    assert left_behind() == []


@on_disk
def test_two_parties_fetch_a_file(tmp_path):
    nodes = nodes_of(directory=MOUNT)
    reading = run(tmp_path, nodes=nodes, mode="pull", read_from="file", write_to="file")
    assert reading.value("transferred") == 64 * MiB
    assert left_behind() == []


def kill_session(jobs):
    """End the receiving server's session, as a fault would, and leave the server itself."""
    server = next(job for job in jobs if job.stage.name == "serve" and job.command.role == "destination")
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)


def test_a_broken_transfer_is_taken_up_again(tmp_path):
    reading = run(tmp_path, disturb=kill_session, size="160 MiB", window="4 KiB", streams=2, retries=3)
    assert "restarted" in [flag.name for flag in reading.flags]
    assert reading.observed["broken_sessions"] == 1
    assert reading.observed["timed_by"] == "wall-clock"
    assert reading.value("transferred") == 160 * MiB


def test_a_broken_transfer_without_restarts_is_a_failure(tmp_path):
    with pytest.raises(ToolFailure) as caught:
        run(tmp_path, disturb=kill_session, size="4 GiB", window="4 KiB", streams=2)
    assert caught.value.code == "stopped"
    assert caught.value.retryable


@on_disk
def test_a_port_in_use_is_told_and_no_file_stays_behind(tmp_path):
    with socket.socket() as listener:
        listener.bind(("127.0.3.1", 0))
        listener.listen()
        with pytest.raises(ToolFailure) as caught:
            run(tmp_path, nodes=nodes_of(directory=MOUNT), read_from="file", port=listener.getsockname()[1])
    assert caught.value.code == "port-busy"
    assert "pusan1" in str(caught.value.message)
    assert left_behind() == []


def test_nothing_beside_the_run_can_be_read_from_the_server(tmp_path):
    tool, nodes = tools.get("gridftp"), nodes_of()
    port = free_port()
    plan = tool.plan(tool.clean({"port": port}), nodes)
    serving = Plan(tuple(stage for stage in plan.stages if stage.name == "serve"))
    (tmp_path / "thief").mkdir()
    carrying.let_through(tmp_path)

    def steal(url):
        done = subprocess.run(
            ["globus-url-copy", url, f"file://{tmp_path}/thief/loot"], capture_output=True, timeout=20, check=False
        )
        return done.returncode, done.stderr.decode()

    job = carrying.Job(serving.stages[0], serving.stages[0].commands[0], nodes["source"][0], tmp_path / "server")
    try:
        assert job.wait_until_ready()
        code, said = steal(f"ftp://127.0.2.1:{port}/etc/passwd")
    finally:
        job.end()
    assert code != 0
    assert "not allowed" in said
