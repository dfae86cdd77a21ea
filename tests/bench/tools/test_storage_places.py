"""Where storage tools write: nothing is written where nothing is mounted, and nothing is left behind."""

import re

import pytest

from apps.agents.models import Job
from apps.bench import tools
from apps.bench.toolkit import NodeRef, Output, ParameterError, ToolFailure
from apps.bench.tools._storage import places
from workers.agent.ready import Search, compile_pattern

PARAMS = {"folder": ""}
HEADER = "Filesystem         Type      1B-blocks        Avail Mounted on\n"


def node(directory="/mnt/fs"):
    return NodeRef("one", "192.0.2.1", directory)


def pattern(directory):
    (command,) = places.check_stage([node(directory)], PARAMS).commands
    assert command.background
    assert command.ends_by_itself
    return re.compile(command.ready_pattern, re.MULTILINE)


def row(target, source="server:/vol", kind="nfs4", free="900"):
    return f"{HEADER}{source} {kind}  1000 {free} {target}\n"


def output(stdout="", stderr="", folder="/mnt/fs", **changes):
    argv = ("df", "-B1", "--output=source,fstype,size,avail,target", "--", folder)
    return Output("client", places.CHECK, "one", argv, stdout.encode(), stderr.encode(), 0, **changes)


def fail(*outputs, params=PARAMS):
    with pytest.raises(ToolFailure) as caught:
        places.read_places(outputs, params)
    return caught.value


@pytest.mark.parametrize("mount", ["/mnt/fs", "/mnt/fs/", "/mnt/a b", "/mnt/a+b.c", "/"])
def test_the_gate_opens_for_the_mount_itself(mount):
    assert pattern(mount).search(row(mount.rstrip("/") or "/"))


@pytest.mark.parametrize("mount", ["/" + "a.b+c-d " * 31 + "x" * 6, "/" + "데이터" * 84])
def test_the_gate_of_a_path_of_any_length_is_one_that_agents_match_and_jobs_hold(mount):
    text = pattern(mount).pattern
    assert len(text) <= Job._meta.get_field("ready_pattern").max_length
    assert Search(compile_pattern(text)).take(row(mount).encode())
    assert not Search(compile_pattern(text)).take(row("/").encode())


@pytest.mark.parametrize("target", ["/", "/mnt", "/mnt/fs2", "/mnt/fs/deeper", "/other/mnt/fs", "/mnt/fs on it"])
def test_the_gate_stays_shut_for_any_other(target):
    assert not pattern("/mnt/fs").search(row(target))


def test_the_gate_does_not_open_for_the_header_or_a_line_not_yet_whole():
    assert not pattern("/mnt/fs").search(HEADER)
    assert not pattern("/mnt/fs").search(row("/mnt/fs").removesuffix("\n"))


def test_a_folder_below_is_looked_at_and_its_mount_must_be_the_file_systems():
    (command,) = places.check_stage([node()], {"folder": "scratch/me"}).commands
    assert command.argv[-1] == "/mnt/fs/scratch/me"
    assert re.search(command.ready_pattern, row("/mnt/fs"), re.MULTILINE)
    (found,) = places.read_places([output(row("/mnt/fs"), folder="/mnt/fs/scratch/me")], {"folder": "scratch/me"})
    assert found.target == "/mnt/fs"


def test_it_reads_what_lies_there():
    (found,) = places.read_places([output(row("/mnt/fs"))], PARAMS)
    assert found == places.FileSystemPlace("nfs4", "server:/vol", 1000, 900, "/mnt/fs")
    (found,) = places.read_places([output(row("/mnt/fs", source="//host/a share", free="-"))], PARAMS)
    assert (found.source, found.free) == ("//host/a share", None)


def test_a_folder_that_is_no_mount_is_told_with_what_it_belongs_to():
    failure = fail(output(row("/", source="/dev/vda", kind="ext4")))
    assert failure.code == "not-mounted"
    assert "/mnt/fs" in str(failure.message)
    assert "ext4" in str(failure.message)


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (output(stderr="df: /mnt/fs: No such file or directory\n"), "no-directory"),
        (output(stderr="df: /mnt/fs: Permission denied\n"), "permission"),
        (output(timed_out=True), "mount-hangs"),
        (output(signal=15), "stopped"),
        (output(), "no-result"),
    ],
)
def test_a_check_that_says_nothing_has_a_reason(made, code):
    assert fail(made).code == code


def test_names_of_an_archive_are_no_places():
    assert places.read_places([], PARAMS) == []
    assert [flag.name for flag in places.flags_of([])] == ["mount-unseen"]


def place(kind="nfs4", free=1000, target="/mnt/fs"):
    return places.FileSystemPlace(kind, "server:/vol", 2000, free, target)


def names(*found, outputs=()):
    return {flag.name: flag.severity for flag in places.flags_of(found, outputs)}


def test_what_is_odd_of_a_place_is_told():
    assert names(place()) == {}
    assert names(place("tmpfs")) == {"memory-file-system": "warning"}
    assert names(place("nfs4"), place("ext4")) == {"mixed-file-systems": "invalid"}


def test_files_that_could_not_be_removed_are_told():
    clean = Output("client", places.CLEAN, "one", ("rm",), b"", b"rm: cannot remove", 1)
    assert names(place(), outputs=[clean]) == {"files-left": "warning"}


def test_a_place_with_too_little_room_is_found():
    assert places.without_room([place(free=1000)], 1000) is None
    assert places.without_room([place(free=None), place(free=999)], 1000).free == 999


def test_what_was_seen_goes_into_the_reading():
    seen = places.observed_of([place(free=10), place(free=5)])
    assert seen == {"file_system": "nfs4", "file_system_source": "server:/vol", "file_system_free": 5}


def test_a_node_without_the_file_system_is_refused():
    with pytest.raises(ParameterError) as caught:
        places.check_stage([node("")], PARAMS)
    assert set(caught.value.errors) == {"file_system"}
    assert "one" in str(caught.value.errors["file_system"])


@pytest.mark.parametrize("folder", ["", "a", "a/b.c", "a b"])
def test_folders_below_the_mount_are_taken(folder):
    assert places.check_folder({"folder": folder}) == {}


@pytest.mark.parametrize("folder", ["..", "a/../b", "/a", "a//b", "a/", ".", "-a", "a/-b"])
def test_folders_that_lead_elsewhere_are_refused(folder):
    assert set(places.check_folder({"folder": folder})) == {"folder"}


# Their programs give their files names that nobody can change.
NAMED_BY_THE_PROGRAM = {"btio", "imb"}
FREE = [tool for tool in tools.all_tools() if tool.file_system and tool.slug not in NAMED_BY_THE_PROGRAM]


@pytest.mark.parametrize("tool", FREE, ids=lambda tool: tool.slug)
def test_each_run_gives_its_files_names_of_its_own(tool):
    params = tool.clean({"read_from": "file", "write_to": "file"} if "gridftp" in tool.slug else {})
    nodes = {
        role.name: [NodeRef(f"{role.name}{number}", "192.0.2.1", "/mnt/fs", mark="1a2b") for number in range(2)]
        for role in tool.roles
    }
    plan = str(tool.plan(params, nodes).as_json())
    assert f"{places.PREFIX}1a2b-" in plan
    assert plan.count(places.PREFIX) == plan.count(f"{places.PREFIX}1a2b-")
