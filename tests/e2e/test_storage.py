"""Storage tools on real agents: clients of a cluster at one instant, and nothing written where nothing is mounted."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from launch.local_agents import LocalAgent
from tests.e2e.conftest import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]

MOUNT = Path("/dev/shm")
# Allowed by the owner, as a mount path is, with nothing mounted on it.
NOWHERE = Path(tempfile.gettempdir()) / "fathom-e2e-nowhere"
PROGRAMS = {name: shutil.which(name) for name in ("iozone", "fio", "df", "rm")}


@pytest.fixture(scope="module")
def allowed(stack: Stack) -> Stack:
    """Allow the programs on both nodes, as their owner would, and start the agents again."""
    missing = [name for name, path in PROGRAMS.items() if path is None]
    if missing or not MOUNT.is_mount():
        pytest.skip(f"needed here: {', '.join(missing) or MOUNT}")
    for name in stack.nodes:
        agent = LocalAgent(stack.running.home.agents / name)
        agent.allow({"programs": PROGRAMS, "paths": [str(MOUNT), str(NOWHERE)]})
        os.kill(stack.pid(f"agent-{name}"), signal.SIGTERM)
    deadline = time.monotonic() + 60
    while not all(PROGRAMS.keys() <= _tools_of(stack, node).keys() for node in stack.nodes.values()):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    return stack


def _tools_of(stack: Stack, node: int) -> dict[str, Any]:
    agent = next(stack.api.every(f"agents/?node={node}"))
    return (stack.api.get(f"agents/{agent['id']}/")["facts"] or {}).get("tools", {})


@pytest.fixture
def folder() -> Iterator[str]:
    """Yield the name of a folder below the mount that the jobs' user may write in."""
    path = Path(tempfile.mkdtemp(prefix="fathom-e2e-", dir=MOUNT))
    path.chmod(0o777)
    yield path.name
    shutil.rmtree(path)


def _file_system(stack: Stack, name: str, path: Path) -> int:
    """Describe a file system that a cluster of both nodes mounts."""
    cluster = stack.api.post("clusters/", {"name": f"Clients of {name}", "nodes": list(stack.nodes.values())})
    made = stack.api.post(
        "file-systems/",
        {
            "name": name,
            "kind": "other",
            "mount_path": str(path),
            "mounts": [{"cluster": cluster["id"]}],
        },
    )
    return int(made["id"])


def _launch(stack: Stack, file_system: int, **experiment: Any) -> int:
    made = stack.api.post("campaigns/", {"name": f"Storage {time.monotonic_ns()}"})
    roles = [{"role": "client", "node": node} for node in stack.nodes.values()]
    body = {"campaign": made["id"], "name": "files", "roles": roles, "file_system": file_system, **experiment}
    stack.api.post("experiments/", body)
    stack.api.post(f"campaigns/{made['id']}/launch/")
    return int(made["id"])


def _measure(stack: Stack, file_system: int, **experiment: Any) -> dict[str, Any]:
    return stack.wait_until(_launch(stack, file_system, **experiment))


def _results(stack: Stack, campaign: dict[str, Any]) -> list[dict[str, Any]]:
    return list(stack.api.every(f"results/?campaign={campaign['id']}"))


def test_record_size_by_clients_with_iozone(allowed: Stack, folder: str) -> None:
    file_system = _file_system(allowed, "Memory", MOUNT)
    ended = _measure(
        allowed,
        file_system,
        tool="iozone",
        fixed={"file_size": "64 MiB", "folder": folder, "retest": "no"},
        factors=[{"name": "record_size", "expression": "64 KiB, 1 MiB"}, {"name": "clients", "expression": "1, 2"}],
        repetitions=1,
    )
    assert ended["progress"]["succeeded"] == 4, list(allowed.api.every(f"trials/?campaign={ended['id']}"))
    for result in _results(allowed, ended):
        values = {sample["metric"]: sample["value"] for sample in result["samples"]}
        clients = result["observed"]["clients"]
        assert len(clients) == result["requested"]["clients"]
        assert values["write"] == pytest.approx(sum(client["write"] for client in clients))
        assert result["observed"]["file_system"] == "tmpfs"
        flags = {flag["name"]: flag for flag in result["flags"]}
        # 64 MiB are less than any node's memory: what was read is not to be believed, and is not shown.
        assert flags["cached-read"]["severity"] == "invalid"
        assert set(flags["cached-read"]["metrics"]) == {"read"}
        assert ("overlap" in result["observed"]) == (len(clients) == 2)
    assert not list((MOUNT / folder).iterdir())


def test_a_mixed_load_with_fio_and_its_rate_over_time(allowed: Stack, folder: str) -> None:
    file_system = _file_system(allowed, "Memory again", MOUNT)
    ended = _measure(
        allowed,
        file_system,
        tool="fio",
        fixed={
            "pattern": "randrw", "block_size": "64 KiB", "file_size": "16 MiB", "duration": "2 s", "ramp": "0 s",
            "engine": "psync", "direct": "no", "folder": folder,
        },
        repetitions=1,
    )  # fmt: skip
    assert ended["progress"]["succeeded"] == 1, list(allowed.api.every(f"trials/?campaign={ended['id']}"))
    (result,) = _results(allowed, ended)
    values = {sample["metric"]: sample["value"] for sample in result["samples"]}
    assert values["rate"] == pytest.approx(values["read"] + values["write"])
    assert len(result["observed"]["clients"]) == 2
    # Both began at one instant, and ran for as long.
    assert result["observed"]["overlap"] > 0.5
    assert not list((MOUNT / folder).iterdir())


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_cancelled_run_leaves_no_files(allowed: Stack, folder: str) -> None:
    campaign = _launch(
        allowed,
        _file_system(allowed, "Memory once more", MOUNT),
        tool="fio",
        fixed={
            "pattern": "write", "block_size": "64 KiB", "file_size": "4 MiB", "duration": "60 s", "ramp": "0 s",
            "engine": "psync", "direct": "no", "folder": folder,
        },
        repetitions=1,
    )  # fmt: skip
    _until(lambda: any((MOUNT / folder).iterdir()))
    allowed.api.post(f"campaigns/{campaign}/cancel/")
    _until(lambda: next(allowed.api.every(f"trials/?campaign={campaign}"))["state"] == "cancelled")
    assert not list((MOUNT / folder).iterdir())


def test_nothing_is_written_where_nothing_is_mounted(allowed: Stack) -> None:
    NOWHERE.mkdir(exist_ok=True)
    NOWHERE.chmod(0o755)
    with tempfile.TemporaryDirectory(prefix="fathom-e2e-", dir=NOWHERE) as name:
        place = Path(name)
        place.chmod(0o777)
        ended = _measure(
            allowed,
            _file_system(allowed, "Nowhere", place),
            tool="iozone",
            fixed={"file_size": "1 MiB"},
            repetitions=1,
        )
        assert ended["progress"]["failed"] == 1
        assert not list(place.iterdir())
        trial = next(allowed.api.every(f"trials/?campaign={ended['id']}"))
        assert trial["reason"]["code"] == "not-mounted"
        assert not trial["reason"]["retryable"]
