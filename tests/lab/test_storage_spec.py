"""What a lab file says of agents, clusters, file systems and Slurm, and every mistake in it named by its field."""

from pathlib import Path

import pytest

from lab.fields import LabFileError
from lab.file_systems.spec import Disk, Gluster, Nfs
from lab.spec import Lab, read_lab
from tests.lab.labs import ROOT, SMALL

DISK = "{name: raid, kind: disk, node: one, size: 1 GiB}"
NFS = "{name: share, kind: nfs, server: one, disk: raid, clients: [two]}"
VOLUME = "{name: vol, kind: glusterfs, servers: [one, two], disks: [raid], clients: [two]}"


def lab_with(tmp_path: Path, text: str) -> Lab:
    file = tmp_path / "lab.yaml"
    file.write_text(SMALL + text)
    return read_lab(file)


def file_systems(*entries: str) -> str:
    return "file_systems:\n" + "".join(f"  - {entry}\n" for entry in entries)


def test_the_storage_lab_has_the_disk_of_the_gfs_report() -> None:
    lab = read_lab(ROOT / "lab" / "storage.yaml")
    disk, export, volume = lab.file_systems
    assert isinstance(disk, Disk)
    assert (disk.read_bytes_per_s, disk.write_bytes_per_s) == (110 * 2**20, 30 * 2**20)
    assert isinstance(export, Nfs)
    assert export.disk == disk
    assert isinstance(volume, Gluster)
    assert {node.switch.site for node in volume.clients} == {"KISTI", "Pusan"}
    assert lab.slurm
    assert lab.slurm.login.name == "kisti-1"


def test_every_lab_of_the_folder_can_be_read() -> None:
    files = sorted((ROOT / "lab").glob("*.yaml"))
    assert len({read_lab(file).name for file in files}) == len(files) >= 4


def test_what_is_left_out_of_a_file_system_has_a_default(tmp_path: Path) -> None:
    disk, export, volume = lab_with(tmp_path, file_systems(DISK, NFS, VOLUME)).file_systems
    assert isinstance(disk, Disk)
    assert (str(disk.path), disk.format, disk.is_limited) == ("/mnt/raid", "ext4", False)
    assert isinstance(export, Nfs)
    assert (export.connections, export.slots) == (1, 64)
    assert isinstance(volume, Gluster)
    assert (volume.layout, dict(volume.options)) == ("distribute", {})


def test_what_a_nodes_agent_may_do_is_added_to_what_all_may(tmp_path: Path) -> None:
    text = SMALL.replace("address: 10.96.1.11", "address: 10.96.1.11, programs: [/opt/ior], user: bench")
    file = tmp_path / "lab.yaml"
    file.write_text(text + "agents: {programs: [fio, ior], settings: [net.ipv4.tcp_*]}\n")
    one, two = (node.allowance for node in read_lab(file).nodes)
    assert one.programs == {"fio": None, "ior": Path("/opt/ior")}
    assert (one.user, two.user) == ("bench", "nobody")
    assert two.programs == {"fio": None, "ior": None}
    assert one.settings == two.settings == ("net.ipv4.tcp_*",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agents: {programs: [bin/fio]}", r"agents\.programs: 'bin/fio' is no name or absolute path"),
        ("agents: {settings: [a b]}", r"agents\.settings: 'a b' is no kernel setting"),
        ("agents: {user: Root!}", r"agents\.user: 'Root!' is no name of a user"),
        ("agents: {program: [fio]}", r"agents\.program: unknown field"),
        (
            "clusters: [{name: a, nodes: [one, three]}]",
            r"clusters\[0\]\.nodes: name one or more, each once, of one, two",
        ),
        ("clusters: [{name: a, nodes: [one]}, {name: a, nodes: [two]}]", r"clusters\[1\]\.name: a is taken"),
        (
            file_systems("{name: raid, kind: tape}"),
            r"file_systems\[0\]\.kind: 'tape' is unknown; there are disk",
        ),
        (file_systems(DISK, DISK), r"file_systems\[1\]\.name: raid is taken"),
        (file_systems(DISK.replace("1 GiB", "1 MiB")), r"file_systems\[0\]\.size: '1 MiB' is not from"),
        (file_systems(DISK.replace("1 GiB", "100 MiB, format: xfs")), r"\.size: xfs needs 320 MiB or more"),
        (file_systems(DISK.replace("1 GiB", "1 GiB, read: 5 Mbit/s")), r"\.read: '5 Mbit/s' is no throughput"),
        (file_systems(DISK.replace("1 GiB", "1 GiB, path: /srv/x")), r"\.path: /srv/x is not below /mnt"),
        (
            file_systems(DISK.replace("1 GiB", "1 GiB, path: /mnt/../etc")),
            r"\.path: '/mnt/../etc' is no absolute path",
        ),
        (file_systems(NFS), r"file_systems\[0\]\.disk: 'raid' is unknown; there are"),
        (file_systems(DISK, NFS.replace("server: one", "server: two")), r"\.disk: raid is a disk of one"),
        (file_systems(DISK, NFS.replace("[two]", "[one, two]")), r"\.clients: one serves it"),
        (
            file_systems(DISK, NFS.replace("[two]", "[two], connections: 99")),
            r"\.connections: 99 is no number from 1",
        ),
        (
            file_systems(DISK, NFS, VOLUME.replace("clients: [two]", "clients: [two], path: /mnt/share/vol")),
            r"file_systems\[2\]\.path: /mnt/share/vol meets /mnt/share of share on two",
        ),
        (file_systems(DISK, VOLUME.replace("[one, two]", "[two]")), r"\.disks: name at most one disk"),
        (
            file_systems(DISK, VOLUME.replace("[one, two]", "[one], layout: replicate")),
            r"\.layout: replicate",
        ),
        (
            file_systems(DISK, VOLUME.replace("disks:", "options: {X: 1}, disks:")),
            r"\.options\.X: write a volume",
        ),
        ("slurm: {login: three, nodes: [one]}", r"slurm\.login: 'three' is unknown"),
        ("slurm: {login: one, nodes: []}", r"slurm\.nodes: name one or more"),
        ("slurm: {login: one, nodes: [two], partition: a b}", r"slurm\.partition: 'a b' should be letters"),
        ("slurm: {login: one, nodes: [two], queue: x}", r"slurm\.queue: unknown field"),
    ],
)
def test_a_mistake_is_named_by_its_field(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LabFileError, match=message):
        lab_with(tmp_path, text + "\n")
