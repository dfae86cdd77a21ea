import shutil
from pathlib import Path

import pytest
import yaml

from lab.fields import LabFileError
from lab.spec import read_lab
from tests.lab.labs import KISTI_PUSAN, KNU_CALTECH, SMALL


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """Write the small lab with one change."""
    assert old in SMALL
    path = tmp_path / "lab.yaml"
    path.write_text(SMALL.replace(old, new, 1))
    return path


def test_kisti_and_pusan_are_joined_by_the_line_of_the_gfs_report() -> None:
    lab = read_lab(KISTI_PUSAN)
    (link,) = lab.links
    assert [switch.site for switch in lab.switches] == ["KISTI", "Pusan"]
    assert [node.name for node in lab.nodes] == ["kisti-1", "kisti-2", "pusan-1", "pusan-2"]
    assert (link.capacity_bps, link.rtt_s, link.mtu) == (1e9, 0.0048, 9000)
    assert (link.delay_s, link.queue_bytes, link.overhead_bytes) == (0.00227, 4_000_000, 38)
    assert lab.nodes[0].sysctls["net.ipv4.tcp_no_metrics_save"] == "1"


def test_knu_and_caltech_are_joined_across_the_pacific() -> None:
    (link,) = read_lab(KNU_CALTECH).links
    assert (link.capacity_bps, link.rtt_s, link.mtu) == (457e6, 0.1355, 1500)


def test_what_is_left_out_has_a_default(tmp_path: Path) -> None:
    lab = read_lab(changed(tmp_path, "    queue: 100 kB\n", ""))
    (link,) = lab.links
    assert (link.delay_s, link.mtu, link.queue_bytes, link.loss, link.seed) == (0.01, 1500, 4_000_000, 0.0, 1)
    assert str(lab.management[0]) == "10.97.0.0/16"
    assert lab.nodes[0].sysctls == {}


def test_a_nodes_own_sysctl_goes_before_that_of_all(tmp_path: Path) -> None:
    file = changed(tmp_path, "address: 10.96.1.11", "address: 10.96.1.11, sysctls: {net.ipv4.tcp_sack: 0}")
    file.write_text(file.read_text() + "node_sysctls: {net.ipv4.tcp_sack: 1, net.ipv4.tcp_rmem: 4096 1 2}\n")
    one, two = read_lab(file).nodes
    assert one.sysctls == {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_rmem": "4096 1 2"}
    assert two.sysctls["net.ipv4.tcp_sack"] == "1"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: small", "", r"lab\.yaml: name: missing"),
        ("name: small", "name: 5", "name: 5 is no text"),
        ("name: small", "name: Small Lab", "name: 'Small Lab' should be at most 32 lower-case letters"),
        ("name: small", "nam: small\nname: small", "nam: unknown field; known here are agents, clusters"),
        ("name: small", "name: small\nmanagement: nowhere", "management: 'nowhere' is no IPv4 network"),
        ("name: small", "name: small\nmanagement: 5", "management: write a list"),
        (
            "name: small",
            "name: small\nmanagement: [10.1.1.0/25]",
            "management: 10.1.1.0/25 is too small: at least a /24",
        ),
        ("name: small", "name: small\nnode_sysctls: 5", "node_sysctls: write one setting a line"),
        (
            "name: small",
            "name: small\nnode_sysctls: {net.core.rmem_max: 1}",
            r"node_sysctls\.net\.core\.rmem_max: a name",
        ),
        ("name: small", "name: small\nnode_sysctls: {net.ipv4./../x: 1}", "a namespace has net.ipv4"),
        ("name: small", "name: small\nnode_sysctls: {net.ipv4.tcp_sack: true}", "True is no number or text"),
        ("site: Left, ", "", r"switches\[0\]\.site: missing"),
        ("name: right, site", "name: left, site", r"switches\[1\]\.name: left is taken"),
        ("subnet: 10.96.2.0/24", "subnet: 10.96.0.0/16", r"switches\[1\]\.subnet: 10.96.0.0/16 overlaps"),
        ("subnet: 10.96.2.0/24", "subnet: 10.96.2.1/24", r"switches\[1\]\.subnet: .* host bits set"),
        (
            "subnet: 10.96.2.0/24}",
            "subnet: 10.96.2.0/24, mtu: 70000}",
            r"switches\[1\]\.mtu: 70000 is no number from 576",
        ),
        ("subnet: 10.96.2.0/24}", "subnet: 10.96.2.0/24, mtu: 1500.5}", r"mtu: 1500.5 is no whole number"),
        ("subnet: 10.96.2.0/24}", "subnet: 10.96.2.0/24, mtu: true}", r"mtu: True is no number"),
        ("subnet: 10.96.2.0/24}", "subnet: 10.96.2.0/24, mtu: big}", r"mtu: 'big' is no number"),
        ("switch: left", "switch: middle", r"nodes\[0\]\.switch: 'middle' is unknown; there are left, right"),
        ("name: two", "name: one", r"nodes\[1\]\.name: one is taken"),
        ("name: two", "name: left", r"nodes\[1\]\.name: left is taken"),
        ("address: 10.96.1.11", "address: 10.96.1", r"nodes\[0\]\.address: '10.96.1' is no IPv4 address"),
        ("address: 10.96.1.11", "address: 10.96.9.1", r"nodes\[0\]\.address: 10.96.9.1 is not in 10.96.1.0/24"),
        (
            "address: 10.96.1.11",
            "address: 10.96.1.1",
            r"nodes\[0\]\.address: 10.96.1.1 is the network's, the switch's",
        ),
        (
            "switch: right, address: 10.96.2.11",
            "switch: left, address: 10.96.1.11",
            r"nodes\[1\]\.address: .* is taken",
        ),
        ("  - {name: two, switch: right, address: 10.96.2.11}", "  - two", r"nodes\[1\]: write fields here"),
        (
            "between: [left, right]",
            "between: [left, left]",
            r"links\[0\]\.between: name two different switches of left",
        ),
        ("between: [left, right]", "between: left", r"links\[0\]\.between: write a list"),
        ("between: [left, right]", "between: [left, middle]", r"links\[0\]\.between: name two different"),
        (
            "capacity: 50 Mbit/s",
            "capacity: 50",
            r"links\[0\]\.capacity: 50 is no rate: write a number and one of bit/s",
        ),
        ("capacity: 50 Mbit/s", "capacity: 0 bit/s", r"links\[0\]\.capacity: '0 bit/s' is not from 1000 to inf"),
        ("rtt: 20 ms", "", r"links\[0\]\.rtt: missing"),
        ("rtt: 20 ms", "rtt: 20 ms\n    delay: 20 s", r"links\[0\]\.delay: the emulator delays by 10 s at most"),
        ("queue: 100 kB", "queue: 1 kB", r"links\[0\]\.queue: '1 kB' is not from"),
        ("queue: 100 kB", "loss: 2", r"links\[0\]\.loss: 2 is no number from 0 to 1"),
        ("queue: 100 kB", "seed: 70000", r"links\[0\]\.seed: 70000 is no number from 0 to 65535"),
        ("queue: 100 kB", "overhead: -1", r"links\[0\]\.overhead: -1 is no number from 0 to 1000"),
        ("subnet: 10.96.255.0/30", "subnet: 10.96.255.0/31", r"links\[0\]\.subnet: 10.96.255.0/31 is too small"),
        ("subnet: 10.96.255.0/30", "subnet: 10.96.2.0/30", r"links\[0\]\.subnet: 10.96.2.0/30 overlaps"),
        ("queue: 100 kB", "queues: 100 kB", r"links\[0\]\.queues: unknown field"),
        ("nodes:", "nodes: []\nwas:", "nodes: write 1 to 250 of them, not 0"),
    ],
)
def test_a_mistake_is_named_by_its_field(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(LabFileError, match=message):
        read_lab(changed(tmp_path, old, new))


def test_two_links_of_one_name_are_refused(tmp_path: Path) -> None:
    content = yaml.safe_load(SMALL)
    content["links"].append(content["links"][0] | {"subnet": "10.96.255.4/30"})
    file = tmp_path / "lab.yaml"
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(LabFileError, match=r"links\[1\]\.name: Left-Right is taken"):
        read_lab(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name: [", "is no YAML"),
        (b"- a list", "the file: write fields here"),
        (b"", "the file: write fields here"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_a_file_that_is_no_lab_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "lab.yaml"
    file.write_bytes(content)
    with pytest.raises(LabFileError, match=message):
        read_lab(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabFileError, match=r"nowhere\.yaml cannot be read: .*No such file"):
        read_lab(tmp_path / "nowhere.yaml")


def test_a_change_in_the_file_changes_its_digest(tmp_path: Path) -> None:
    copy = Path(shutil.copy(KISTI_PUSAN, tmp_path / "copy.yaml"))
    before = read_lab(copy).digest
    assert before == read_lab(KISTI_PUSAN).digest
    copy.write_text(copy.read_text().replace("4.8 ms", "4.9 ms"))
    assert read_lab(copy).digest != before
