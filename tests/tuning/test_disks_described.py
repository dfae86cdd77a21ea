"""What a description of disks says: each rate is of the direction that it is named with, the ambiguous of none."""

import itertools

import pytest

from apps.tuning.evidence.disks import read_disks

MB = 1e6
BOTH = {"write": 800 * MB, "read": 800 * MB}


@pytest.mark.parametrize(
    ("text", "disks", "rates"),
    [
        ("8 SATA disks", 8, {}),
        ("8 disks, 800 MB/s by specification", 8, BOTH),
        ("800 MB/s read and write", None, BOTH),
        ("800 MB/s read/write", None, BOTH),
        ("RAID 1, 30 MB/s write", None, {"write": 30 * MB}),
        ("SAS 600 MB/s, 264 MB/s write", None, {"write": 264 * MB}),
        ("SAN, 264 MB/s write, 354 MB/s read", None, {"write": 264 * MB, "read": 354 * MB}),
        ("RAID 6, 400 MB/s read, 30 MB/s write, 5 MB/s random read", None, {"write": 30 * MB, "read": 400 * MB}),
        ("400 MB/s read 30 MB/s write", None, {"write": 30 * MB, "read": 400 * MB}),
        ("read 400 MB/s write 30 MB/s", None, {"write": 30 * MB, "read": 400 * MB}),
        ("읽기 400 MB/s, 쓰기 30 MB/s", None, {"write": 30 * MB, "read": 400 * MB}),
        ("write cache 500 MB/s, 30 MB/s", None, {"write": 30 * MB, "read": 30 * MB}),
        ("250 GB SATA", None, {}),
        ("12 x 4 TB", 12, {}),
        ("12 x 600 GB SAS 6 Gb/s", 12, {}),
        ("SATA 3 Gb/s, 400 MB/s write", None, {"write": 400 * MB}),
        ("8 x 500 GB SATA, 4 x 6 Gb/s, 800 MB/s", 8, BOTH),
        ("6 Gb/s SAS disks", None, {}),
        ("8 Gb FC, 800 MB/s", None, BOTH),
        ("", None, {}),
    ],
)
def test_disks_are_read_from_their_description(text: str, disks: int | None, rates: dict[str, float]) -> None:
    assert read_disks(text) == (disks, rates)


WORDS = {"read": ("read", "reads", "reading", "Read"), "write": ("write", "writes", "writing", "Write")}
PATTERNS = (
    "{rate} MB/s {word}",
    "{rate} MB/s ({word})",
    "{word} {rate} MB/s",
    "{word}: {rate} MB/s",
    "{rate}MB/s {word}",
)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("between", [", ", "; ", " and ", "\n"])
@pytest.mark.parametrize("order", list(itertools.permutations(WORDS)))
def test_each_rate_is_of_its_own_direction_however_it_is_written(
    pattern: str, between: str, order: list[str]
) -> None:
    rates = {"read": 400.0, "write": 30.0}
    for forms in zip(*WORDS.values(), strict=True):
        word = dict(zip(WORDS, forms, strict=True))
        text = between.join(pattern.format(rate=f"{rates[name]:g}", word=word[name]) for name in order)
        assert read_disks(f"RAID 6, {text}").rates == {name: rate * MB for name, rate in rates.items()}, text


PORTS = (
    "SAS", "SATA", "FC", "Fibre Channel", "fiber channel", "PCIe", "PCI Express", "NVMe link", "SCSI", "iSCSI",
    "InfiniBand", "Ethernet", "bus", "interface", "버스", "인터페이스",
)  # fmt: skip


@pytest.mark.parametrize("rate", ["4 GB/s", "6 Gb/s", "6Gb/s", "600 MB/s", "100 Mb/s", "10 Gib/s"])
@pytest.mark.parametrize("port", PORTS)
def test_what_a_port_carries_says_nothing_of_the_disks_behind_it(port: str, rate: str) -> None:
    for clause in (f"{port} {rate}", f"{rate} {port}", f"disks by {port} ({rate})"):
        assert read_disks(f"RAID 6, {clause}").rates == {}, clause
        assert read_disks(f"{clause}, 800 MB/s").rates == BOTH, clause


@pytest.mark.parametrize("rate", ["6 Gb/s", "100 Mb/s", "10 Gib/s", "800 kb/s"])
def test_a_rate_in_bits_is_none_of_disks(rate: str) -> None:
    assert read_disks(f"RAID 6, {rate}").rates == {}
    assert read_disks(f"RAID 6 {rate}, 800 MB/s").rates == BOTH


@pytest.mark.parametrize(
    "text",
    [
        *(f"2 of them, 400 MB/s per {part}" for part in ("array", "controller", "shelf", "enclosure", "LUN")),
        "8 x 100 MB/s",
        "8 disks, 100 MB/s each",
        "100 MB/s per disk",
        "100-200 MB/s",
        "100 to 200 MB/s",
        "1,200 MB/s",
        "400/30 MB/s read/write",
        "400 MB/s 30 MB/s read, write",
        "SSD 500 MB/s, HDD 100 MB/s",
        "R 400 MB/s, W 30 MB/s",
        "30 MB/s read, 40 MB/s read",
        "tuned for reading, 800 MB/s",
        "5 MB/s random write",
        "0 MB/s",
    ],
)
def test_of_what_is_ambiguous_nothing_is_known(text: str) -> None:
    assert read_disks(text).rates == {}
