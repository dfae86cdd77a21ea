"""A file system's server frees its cache of what the clients wrote, before they read it; else nothing claims so."""

import dataclasses

import pytest

from apps.bench import judges, tools
from apps.bench.toolkit import FILE_SERVER, NodeRef
from apps.bench.validity import caches as validity_of_caches
from tests.bench.tools import carrying, recordings

GIB = 2**30
READERS = {
    "iozone": ({"file_size": "8M", "record_size": "1M", "direct": True}, ["read"], "read"),
    "fio": ({"pattern": "read", "file_size": "8M", "duration": 0, "ramp": 0, "engine": "psync"}, None, "measure"),
}
needs = pytest.mark.skipif(
    not carrying.installed("iozone", "fio", "dd", "fincore"), reason="a program is not there on this machine"
)


def nodes_of(mount, there):
    return {
        "client": [NodeRef("client", "127.0.0.1", str(mount))],
        FILE_SERVER: [NodeRef("server", "127.0.0.1", str(there))],
    }


@pytest.mark.parametrize("slug", READERS)
def test_the_server_is_asked_for_the_same_files_by_its_own_paths(slug):
    tool = tools.get(slug)
    params = tool.clean({**READERS[slug][0], "folder": "scratch"})
    plan = tool.plan(params, nodes_of("/mnt/nfs", "/export/nfs"))
    names = [stage.name for stage in plan.stages]
    name = f"{READERS[slug][2]}-{FILE_SERVER}"
    assert names.index(f"drop-{name}") < names.index(f"look-{name}") < names.index(READERS[slug][2])
    commands = [command for stage in plan.stages for command in stage.commands if command.role == FILE_SERVER]
    assert all(command.optional and not command.measures for command in commands)
    paths = {word.removeprefix("if=") for command in commands for word in command.argv if "/" in word}
    assert paths
    assert all(path.startswith("/export/nfs/scratch/.fathom-") for path in paths)


@pytest.mark.parametrize("slug", READERS)
def test_without_one_server_that_is_known_nothing_is_asked_or_claimed(slug):
    tool = tools.get(slug)
    params = tool.clean(READERS[slug][0])
    server = NodeRef("server", "127.0.0.1", "/export/nfs")
    for servers in ([], [server, server], [dataclasses.replace(server, directory="")]):
        plan = tool.plan(params, {**nodes_of("/mnt/nfs", ""), FILE_SERVER: servers})
        assert FILE_SERVER not in {command.role for stage in plan.stages for command in stage.commands}


@needs
@pytest.mark.parametrize("slug", READERS)
@pytest.mark.parametrize("is_there", [True, False])
def test_a_real_server_frees_its_cache_and_is_looked_at(tmp_path, slug, is_there):
    (tmp_path / "jobs").mkdir()
    place = tmp_path / "files"
    place.mkdir()
    place.chmod(0o777)
    mount = place
    while not mount.is_mount():
        mount = mount.parent
    # The server has the files elsewhere than the clients: here by another name of the same folder.
    there = tmp_path / "export"
    if is_there:
        there.symlink_to(mount)
    tool = tools.get(slug)
    changed, expected, _stage = READERS[slug]
    params = tool.clean({**changed, "folder": str(place.relative_to(mount))})
    at = nodes_of(mount, there)
    outputs = carrying.carry_out(tool.plan(params, at), at, tmp_path / "jobs")
    reading = judges.read_run(outputs, params, tool)
    if reading.observed["file_system"] == "tmpfs":
        pytest.skip("what lies in memory cannot be taken out of it")
    if is_there:
        assert "read" in reading.observed["freed"]
        assert expected is None or reading.observed["freed"] == expected
    else:
        assert reading.observed["freed"] == []
    doubted = {metric for flag in validity_of_caches.server_flags(reading, GIB) for metric in flag.metrics}
    assert ("read" in doubted) == (not is_there)


def test_the_servers_memory_is_not_taken_for_a_clients():
    tool = tools.get("iozone")
    output = recordings.load("iozone", "auto_small.txt")
    params = tool.clean(tool.recover(output))
    own = dataclasses.replace(output, facts={"memory": {"ram_bytes": GIB}})
    server = dataclasses.replace(
        output, role=FILE_SERVER, stage=f"look-read-{FILE_SERVER}", stdout=b"", facts={"memory": {"ram_bytes": 2**40}}
    )
    assert judges.read_run([own, server], params, tool).observed["client_memory"] == GIB
