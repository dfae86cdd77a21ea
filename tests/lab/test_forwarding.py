"""Packets through the emulators in C and in Python: both do the same to them."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import emulator
from lab.state import Place
from tests.agents.live import measured
from tests.lab.labs import QUIET, SMALL, LabAt, refute

pytestmark = QUIET
KINDS = ["c", "python"]
TWO = "10.96.2.11"
LOSSY = SMALL + "    loss: 0.1\n    seed: 4242\n"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[LabAt]:
    lab = LabAt(tmp_path / "state")
    try:
        yield lab
    finally:
        assert lab.run("down").returncode == 0


@pytest.fixture(scope="module", params=KINDS)
def sound(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabAt]:
    """A lab without losses, for all tests that leave it as it was."""
    folder = tmp_path_factory.mktemp(request.param)
    lab = LabAt(folder / "state")
    try:
        up(lab, folder, request.param)
        lab.on("two", "iperf3", "-s", "-D")
        yield lab
    finally:
        assert lab.run("down").returncode == 0


def command(kind: str, folder: Path) -> tuple[str, ...]:
    if kind == "c" and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler is installed")
    return emulator.choose(kind, folder, print)


def up(lab: LabAt, tmp_path: Path, kind: str, text: str = SMALL) -> None:
    command(kind, lab.folder)
    file = tmp_path / "lab.yaml"
    file.write_text(text)
    lab.up(file, "--emulator", kind)


def test_each_delays_both_ways(sound: LabAt) -> None:
    summary = sound.on("one", "ping", "-c", "20", "-i", "0.05", "-q", TWO).splitlines()[-1]
    assert float(summary.split("=")[1].split("/")[0]) == pytest.approx(20, rel=0.1)


def test_each_carries_tcp_at_the_lines_rate_both_ways(sound: LabAt) -> None:
    # 1448 bytes of data in a packet of 1500 that takes 1538 on the line.
    ceiling = 50 * 1448 / 1538
    for options in ([], ["-R"]):
        # A machine that stands still for a moment gives what has piled up the next instant's rate.
        rates = [sound.rate_mbps("one", TWO, *options)]
        while not ceiling * 0.4 <= rates[-1] <= ceiling * 1.02 and len(rates) < 3:
            rates.append(sound.rate_mbps("one", TWO, *options))
        if not ceiling * 0.4 <= rates[-1] <= ceiling * 1.02:
            refute(f"Mbit/s {options}, at most {ceiling:.1f}: {rates}")


def lost_percent(lab: LabAt) -> float:
    report = json.loads(lab.on("one", "iperf3", "-u", "-c", TWO, "-b", "100M", "-l", "1472", "-t", "2", "-J"))
    return float(report["end"]["sum"]["lost_percent"])


@pytest.mark.parametrize("kind", KINDS)
def test_each_drops_what_overflows_its_queue(lab: LabAt, tmp_path: Path, kind: str) -> None:
    up(lab, tmp_path, kind)
    lab.on("two", "iperf3", "-s", "-D")
    # 1472 bytes of data in 1538 on the line: 50 of the 104.5 Mbit/s get through; the queue delays by 16 ms at most.
    expected = pytest.approx(52.1, abs=15)
    lost = measured(lambda: lost_percent(lab), lambda percent: percent == expected)
    if lost != expected:
        refute(f"{lost:.1f} % of the datagrams were lost")
    assert lab.run("down").returncode == 0
    ways = (lab.folder / "link-0.log").read_text().splitlines()[1:]
    forth = next(way for way in ways if way.startswith("A->B"))
    counts = re.search(r"(\d+) dropped from a full queue, 0 lost at random, longest queue (\d+) B", forth)
    assert counts, forth
    assert int(counts[1]) > 5000
    assert 97_000 <= int(counts[2]) <= 100_038
    assert sorted(way.split(":")[0] for way in ways) == ["A->B", "B->A"]


def test_both_lose_the_same_packets_for_one_seed(lab: LabAt, tmp_path: Path) -> None:
    arrived = {}
    for kind in KINDS:
        up(lab, tmp_path, kind, LOSSY)
        done = lab.attempt("one", "ping", "-c", "200", "-i", "0.002", "-W", "1", TWO)
        arrived[kind] = re.findall(r"icmp_seq=(\d+)", done.stdout)
    assert arrived["c"] == arrived["python"]
    # Each way loses a tenth: 81 % come back.
    assert len(arrived["c"]) == pytest.approx(162, abs=20)


def test_each_goes_on_after_an_end_was_unplugged(sound: LabAt) -> None:
    far_end = "10.96.255.2"
    assert sound.pinged("left", far_end)
    sound.on("right", "ip", "link", "set", "wan0", "down")
    assert not sound.pinged("left", far_end)
    sound.on("right", "ip", "link", "set", "wan0", "up")
    assert sound.pinged("left", far_end)


@pytest.mark.parametrize("kind", KINDS)
def test_each_names_a_device_that_it_cannot_have(tmp_path: Path, kind: str) -> None:
    argv = [*command(kind, tmp_path), "lo", "ifb", "1000", "2270", "4000000", "0", "1", "38", "0"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "forwarder: lo: Invalid argument\n")


@pytest.mark.parametrize("kind", KINDS)
def test_each_says_when_there_is_no_tun(tmp_path: Path, kind: str) -> None:
    argv = [*command(kind, tmp_path), "ifa", "ifb", "1000", "2270", "4000000", "0", "1", "38", "0"]
    hidden = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev/net && exec "$0" "$@"']
    done = subprocess.run([*hidden, *argv], capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stderr) == (1, "forwarder: /dev/net/tun: No such file or directory\n")


@pytest.mark.parametrize("kind", KINDS)
def test_an_emulator_ends_with_its_devices(lab: LabAt, tmp_path: Path, kind: str) -> None:
    up(lab, tmp_path, kind)
    (link,) = [link for link in lab.state["links"] if link["kind"] == "emulated"]
    shown = lab.on("left", "ip", "-o", "link", "show", "type", "tun")
    names = re.findall(r"^\d+: ([^:@]+)[:@]", shown, re.MULTILINE)
    assert names, shown
    for name in names:
        lab.on("left", "ip", "link", "del", name)
    ends_at = time.monotonic() + 10
    while emulator.carries(Place(lab.folder).interface_prefix)(link["pid"]):
        assert time.monotonic() < ends_at, "it goes on without a line"
        time.sleep(0.1)
