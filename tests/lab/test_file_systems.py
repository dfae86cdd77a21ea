"""Disks, NFS and GlusterFS of a lab: mounted where the file says, seen by no one else, and gone with the lab."""

import hashlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lab import machine
from tests.lab.labs import REAL, SMALL, LabAt
from tests.lab.test_life import wait_for

pytestmark = REAL
NOBODY = ("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups")
DISK = {"name": "raid", "kind": "disk", "node": "one", "size": "128 MiB", "read": "40 MiB/s", "write": "20 MiB/s"}
NFS = {"name": "share", "kind": "nfs", "server": "one", "clients": ["two"]}
GLUSTER = {"name": "vol", "kind": "glusterfs", "servers": ["one", "two"], "clients": ["one", "two"]}


def needs(*programs: str) -> pytest.MarkDecorator:
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
    missing = [name for name in programs if shutil.which(name, path=path) is None and not Path(name).exists()]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)}: not installed")


needs_nfs = needs("ganesha.nfsd", "rpcbind", "cc", "pkg-config", "/usr/include/nfsc/libnfs.h")
needs_gluster = needs("glusterd", "gluster", "glusterfs")


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[LabAt]:
    lab = LabAt(tmp_path / "state")
    try:
        yield lab
    finally:
        assert lab.run("down").returncode == 0
        assert lab.remains() == []
        assert remains_of_storage(lab) == []


def written(tmp_path: Path, *file_systems: dict[str, object]) -> Path:
    file = tmp_path / "small.yaml"
    content = yaml.safe_load(SMALL) | {"file_systems": list(file_systems)}
    content["links"][0] |= {"capacity": "1 Gbit/s", "rtt": "1 ms", "queue": "1 MB"}
    file.write_text(yaml.safe_dump(content))
    return file


def remains_of_storage(lab: LabAt) -> list[str]:
    """Return every loop device, image, limit, folder and mount that is this lab's."""
    folder = str(lab.folder.resolve())
    loops = subprocess.run(["losetup", "--list", "--noheadings"], capture_output=True, text=True, check=True).stdout
    found = [line for line in loops.splitlines() if folder in line]
    found += [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if lab.place.token in line]
    found += [str(path) for path in (lab.folder / "disks", lab.folder / "nodes", lab.place.rooms) if path.exists()]
    return found


def seconds_of(said: str) -> float:
    """Return the time that dd says it took."""
    return float(said.rpartition(" s, ")[0].rpartition(", ")[2])


def test_a_disk_is_mounted_on_its_node_alone_and_as_slow_as_its_file_says(lab: LabAt, tmp_path: Path) -> None:
    lab.up(written(tmp_path, DISK))
    assert "/mnt/raid ext4" in lab.on("one", "cat", "/proc/mounts")
    assert "/mnt/raid" not in lab.on("two", "cat", "/proc/mounts")
    assert "/mnt/raid" not in Path("/proc/mounts").read_text()
    # 40 MiB, past the memory of this machine: 2 s to write, 1 s to read. A busy machine only makes it slower.
    write = lab.run("exec", "one", "--", *NOBODY, "dd", "if=/dev/zero", "of=/mnt/raid/x", "bs=1M", "count=40",
                    "oflag=direct")  # fmt: skip
    read = lab.run("exec", "one", "--", *NOBODY, "dd", "if=/mnt/raid/x", "of=/dev/null", "bs=1M", "iflag=direct")
    assert seconds_of(write.stderr) > 1.7
    assert seconds_of(read.stderr) > 0.8


def test_a_disk_that_is_full_says_so(lab: LabAt, tmp_path: Path) -> None:
    lab.up(written(tmp_path, {**DISK, "size": "64 MiB", "read": None, "write": None}))
    done = lab.run("exec", "one", "--", "dd", "if=/dev/zero", "of=/mnt/raid/x", "bs=1M", "count=100")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


@needs_nfs
def test_an_nfs_export_of_a_disk_is_mounted_and_keeps_what_is_written(lab: LabAt, tmp_path: Path) -> None:
    lab.up(written(tmp_path, DISK, {**NFS, "disk": "raid", "connections": 2}))
    content = os.urandom(3_000_000)
    source = "/mnt/source"
    subprocess.run(
        [*next(node["prefix"] for node in lab.state["nodes"] if node["name"] == "two"), "tee", source],
        input=content, stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    digest = hashlib.sha256(content).hexdigest()
    script = f"""
        set -e; cd /mnt/share
        cp {source} a; sha256sum a
        mkdir d; mv a d/b; ln -s b d/c; cat d/c | sha256sum
        echo one > e; echo two >> e; cat e; truncate -s 3 e; cat e; echo; chmod 600 e
        stat -c '%U %a %s' e; rm e; ls d
    """
    said = lab.on("two", *NOBODY, "sh", "-c", script).split()
    assert said == [digest, "a", digest, "-", "one", "two", "one", "nobody", "600", "3", "b", "c"]
    assert lab.on("one", "sha256sum", "/mnt/raid/share/d/b").split()[0] == digest
    missing = lab.run("exec", "two", "--", "cat", "/mnt/share/e")
    assert "No such file or directory" in missing.stderr


@needs_nfs
def test_what_the_server_cannot_store_is_told_to_who_writes(lab: LabAt, tmp_path: Path) -> None:
    lab.up(written(tmp_path, {**DISK, "size": "64 MiB", "read": None, "write": None}, {**NFS, "disk": "raid"}))
    done = lab.run("exec", "two", "--", "dd", "if=/dev/zero", "of=/mnt/share/x", "bs=1M", "count=100", "conv=fsync")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


@needs_gluster
def test_a_volume_spans_both_sites_and_shows_each_what_the_other_wrote(lab: LabAt, tmp_path: Path) -> None:
    state = lab.up(written(tmp_path, {**GLUSTER, "layout": "replicate", "options": {"performance.io-cache": False}}))
    lab.on("one", *NOBODY, "sh", "-c", "echo hello > /mnt/vol/x")
    assert lab.on("two", "cat", "/mnt/vol/x") == "hello\n"
    assert "performance.io-cache: off" in lab.on("one", "gluster", "volume", "info", "vol")
    assert {service["name"] for service in state["services"]} == {"glusterd", "vol"}
    assert lab.run("status").returncode == 0


@needs_gluster
@needs_nfs
def test_what_a_killed_lab_left_of_its_file_systems_is_cleared(lab: LabAt, tmp_path: Path) -> None:
    file = written(tmp_path, DISK, {**NFS, "disk": "raid"}, GLUSTER)
    with lab.building(file) as killed:
        assert killed.stdout
        while not killed.stdout.readline().startswith("NFS share"):
            assert killed.poll() is None
        killed.kill()
    assert remains_of_storage(lab) != []
    assert lab.run("down").returncode == 0
    assert remains_of_storage(lab) == []


@needs_gluster
def test_a_server_that_died_is_told_and_the_lab_built_anew(lab: LabAt, tmp_path: Path) -> None:
    file = written(tmp_path, GLUSTER)
    state = lab.up(file)
    (first, *_) = [service for service in state["services"] if service["name"] == "glusterd"]
    os.kill(first["pid"], signal.SIGKILL)
    wait_for(lambda: machine.command_of(first["pid"]) == [])
    status = lab.run("status")
    assert status.returncode == 1
    assert "DEAD: glusterd of one; up builds the lab anew" in status.stdout
    assert lab.up(file)["built_at"] != state["built_at"]
    assert lab.run("status").returncode == 0


def test_the_inventory_names_clusters_file_systems_and_mount_paths(lab: LabAt, tmp_path: Path) -> None:
    state = lab.up(written(tmp_path, {**DISK, "path": "/mnt/elsewhere/raid", "format": "ext3"}))
    described = yaml.safe_load(Path(state["inventory"]).read_text())
    assert described["clusters"] == [{"name": "one", "nodes": ["one"]}]
    assert described["file_systems"] == [
        {
            "name": "raid",
            "kind": "ext",
            "server_cluster": "one",
            "mount_path": "/mnt/elsewhere/raid",
            "block_size": "4096",
            "disks": "ext3 of 128 MiB, read 40 MiB/s, write 20 MiB/s",
            "mounted_by": ["one"],
        }
    ]
    assert "/mnt/elsewhere/raid ext3" in lab.on("one", "cat", "/proc/mounts")
