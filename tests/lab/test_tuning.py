"""The laws of a long fat network, measured with the real iperf3 over the two seeds' emulated lines.

The points are those of a campaign: the tool plans the commands and reads what they printed.
"""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import yaml

from apps.bench import tools
from apps.bench.toolkit import NodeRef, Output
from apps.bench.units import parse_quantity
from tests.lab.labs import KISTI_PUSAN, KNU_CALTECH, QUIET, LabAt, refute, standing
from tests.rotation import part_of

pytestmark = QUIET
# What TCP with timestamps gets of a line: 52 bytes of headers in the packet, 38 of Ethernet around it.
GIGABIT_9000 = 1e9 * (9000 - 52) / (9000 + 38)
OCEAN_BPS = 60_000_000
OCEAN_1500 = OCEAN_BPS * (1500 - 52) / (1500 + 38)
# A machine that is busy with something else lowers a rate for a moment: a point is measured again, so many times.
TRIES = 5
# Windows below what fills the line of kisti-pusan.yaml, and above it.
BELOW, ABOVE = ["32 KiB", "128 KiB", "512 KiB"], ["1 MiB", "4 MiB"]


def measure(lab: LabAt, client: str, server: str, **wishes: str) -> dict[str, float]:
    """Carry out one iperf3 measurement between two nodes and return its samples."""
    tool = tools.get("iperf3-tcp")
    params = tool.clean({parameter.name: parameter.default for parameter in tool.parameters} | _values(wishes))
    address = {node["name"]: node["data_addresses"][0] for node in lab.state["nodes"]}
    cast = {"client": [NodeRef(client, address[client])], "server": [NodeRef(server, address[server])]}
    commands = {command.role: command for stage in tool.plan(params, cast).stages for command in stage.commands}
    argv = lab.inside(server, *commands["server"].argv)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as listening:
        try:
            assert listening.stdout
            while "listening" not in (line := listening.stdout.readline()):
                assert line, "the server ended at once"
            # Somebody has to read on what it says of each stream and second, or it waits for that.
            threading.Thread(target=listening.stdout.read, daemon=True).start()
            began = time.time()
            done = lab.attempt(client, *commands["client"].argv)
        finally:
            listening.terminate()
    output = Output(
        "client", "measure", client, commands["client"].argv, done.stdout.encode(), done.stderr.encode(),
        done.returncode, started_at=began, ended_at=time.time(),
    )  # fmt: skip
    return {sample.metric: sample.value for sample in tool.parse([output], params).samples}


def _values(wishes: dict[str, str]) -> dict[str, object]:
    kinds = {parameter.name: parameter.kind for parameter in tools.get("iperf3-tcp").parameters}
    return {
        name: parse_quantity(text, kinds[name]) if kinds[name] in ("size", "duration", "integer") else text
        for name, text in wishes.items()
    }


@pytest.fixture(scope="module")
def kisti_pusan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabAt]:
    yield from standing(KISTI_PUSAN, tmp_path_factory.mktemp("kisti"))


@pytest.fixture(scope="module")
def caltech(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabAt]:
    """KNU and Caltech, whose far end has the small receive buffer that the paper's first measurements met.

    The line is an eighth as fast, which takes an eighth of the streams to fill and of the packets to forward.
    """
    folder = tmp_path_factory.mktemp("caltech")
    content = yaml.safe_load(KNU_CALTECH.read_text())
    content["links"][0]["capacity"] = f"{OCEAN_BPS / 1e6:.0f} Mbit/s"
    content["nodes"][1]["sysctls"] = {"net.ipv4.tcp_rmem": "4096 87380 220000"}
    file = folder / "lab.yaml"
    file.write_text(yaml.safe_dump(content))
    yield from standing(file, folder / "state")


@pytest.mark.parametrize("window", [*part_of(BELOW), *part_of(ABOVE)])
def test_the_rate_is_the_observed_window_by_the_rtt_and_at_most_the_lines(kisti_pusan: LabAt, window: str) -> None:
    seen = []
    for _ in range(TRIES):
        samples = measure(
            kisti_pusan, "kisti-1", "pusan-1", window=window, duration="1 s", omit="1 s", congestion="cubic"
        )
        # The core law (RFC 6349, section 3.3.1), with the window in use, which is not the one asked for, and the RTT
        # that the connection itself saw.
        expected = min(GIGABIT_9000, samples["window_observed"] * 8 / samples["mean_rtt"])
        seen.append((samples["goodput"] / 1e6, expected / 1e6))
        if samples["goodput"] == pytest.approx(expected, rel=0.1):
            break
    else:
        refute(f"{window}: (measured, expected) in Mbit/s were {seen}")
    bdp = 1e9 * 0.0048 / 8
    if samples["window_observed"] > 2 * bdp:
        assert samples["goodput"] == pytest.approx(GIGABIT_9000, rel=0.1)
    elif samples["window_observed"] < 0.9 * bdp:
        assert samples["goodput"] < 0.97 * GIGABIT_9000


def test_with_a_limited_window_the_rate_grows_with_the_streams_and_then_stays_flat(caltech: LabAt) -> None:
    def rate(streams: int) -> float:
        samples = measure(
            caltech, "knu-1", "caltech-1", streams=str(streams), duration="1 s", omit="1 s", congestion="cubic"
        )
        return samples["goodput"]

    one = _nearest(rate, 1, 220000 * 0.62 * 8 / 0.1355)
    assert one < 12e6
    five, plateau = _nearest(rate, 5, 5 * one), _nearest(rate, 12, OCEAN_1500)
    more = _nearest(rate, 16, plateau)
    rates = {1: one, 5: five, 12: plateau, 16: more}
    if five != pytest.approx(5 * one, rel=0.15):
        refute(f"The rate does not grow with the streams: {rates}")
    if plateau != pytest.approx(OCEAN_1500, rel=0.15) or more != pytest.approx(plateau, rel=0.1):
        refute(f"The rate does not stay at the line's: {rates}")


def _nearest(rate: Callable[[int], float], streams: int, expected: float) -> float:
    """Return the rate of so many streams: the first near what is expected, else the nearest of some tries."""
    found = []
    for _ in range(TRIES):
        found.append(rate(streams))
        if found[-1] == pytest.approx(expected, rel=0.1):
            break
    return min(found, key=lambda value: abs(value - expected))
