"""What the rules recommend on two emulated lines, beside the best that the full grid of settings holds.

Through the whole service: a few points, the finding, its verification, and then every point of the grid.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks import stack
from benchmarks.figures import Figure, Skipped
from launch import home
from launch.demo import ground
from launch.demo.rest import Rest

Json = dict[str, Any]
RATE = "rate with the setting recommended"
# How long a campaign's conclusions may take.
CONCLUDED_S = 60
SETTINGS = "net.ipv4.tcp_*"
# More than any point of a grid has.
STREAMS_LIMIT = 128


@dataclass(frozen=True)
class Line:
    """A lab whose nodes are set as the seeds found theirs, what the campaign sweeps, and the grid that it saves."""

    file: Path
    sysctls: dict[str, str]
    ends: tuple[str, str]
    fixed: dict[str, str]
    factor: tuple[str, str]
    grid: dict[str, str]
    rule: str

    def write(self, folder: Path) -> Path:
        """Write the lab's file with the nodes' settings and return where it is."""
        content = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        content["node_sysctls"] |= self.sysctls
        content["agents"] = {"settings": [SETTINGS]}
        path = folder / "lab.yaml"
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        return path


LINES = {
    # The buffers of Linux 2.4 to 2.6: one stream has a sixth of the line, until the kernels' limits are raised.
    "kisti-pusan": Line(
        home.ROOT / "lab" / "kisti-pusan.yaml",
        {"net.ipv4.tcp_rmem": "4096 87380 174760", "net.ipv4.tcp_wmem": "4096 16384 131072"},
        ("kisti-1", "pusan-1"), {"duration": "1 s", "omit": "1 s"},
        ("window", "0, 64KiB, 256KiB, 1MiB, 2MiB"),
        {"window": "0, 16KiB..4MiB x2", "streams": "1, 2, 4, 8, 16"}, "tcp-sysctl",
    ),
    # Buffers of 1 MiB let 38 Mbit/s of 457 through: a dozen streams fill the line.
    "knu-caltech": Line(
        home.ROOT / "lab" / "knu-caltech.yaml",
        {"net.ipv4.tcp_rmem": "4096 87380 1048576"},
        ("knu-1", "caltech-1"), {"duration": "3 s", "omit": "2 s"},
        ("streams", "1, 4, 12, 16"),
        {"window": "0, 256KiB, 1MiB", "streams": "1, 2, 4, 8, 12, 16, 24, 32"}, "tcp-streams",
    ),
}  # fmt: skip


def measure() -> Iterator[Figure | Skipped]:
    """Yield each line's rate, points and gain; every line has a lab and a service of its own."""
    for name, line in LINES.items():
        with tempfile.TemporaryDirectory(prefix="fathom-grid-") as folder:
            file, state = line.write(Path(folder)), home.Home(Path(folder) / "state")
            with ground.standing_lab(home.ROOT, state, file) as (lab_up, refusal):
                if lab_up is None:
                    yield Skipped(f"{RATE}, {name}", refusal)
                    continue
                lab = ground.of_lab(lab_up)
                with stack.started([lab.server_host]) as running:
                    # It takes the lab down when the service stops.
                    running.running.supervisor.add(ground.lab_process(home.ROOT, state, file))
                    yield from _figures(running, name, line, running.start_agents(lab))


def _figures(running: stack.Stack, name: str, line: Line, nodes: dict[str, int]) -> Iterator[Figure]:
    api, ends = running.api, [nodes[end] for end in line.ends]
    for node in ends:
        api.post("setting-grants/", {"node": node, "pattern": SETTINGS})
    for link in api.every("links/"):
        api.call("PATCH", f"links/{link['id']}/", {"streams_limit": STREAMS_LIMIT})
    common: Json = {
        "roles": [{"role": role, "node": node} for role, node in zip(("client", "server"), ends, strict=True)],
        "repetitions": 1,
    }
    rtt = {"name": "rtt", "tool": "ping", "fixed": {"count": "5"}, **common}
    few = running.launch("A few points", rtt, _sweep(line, dict([line.factor]), common))
    running.finish(few, within_s=180)
    points = len(_rates(api, few))
    finding = _wait(f"a finding of {line.rule}", lambda: _first(api, f"findings/?campaign={few}&rule={line.rule}"))
    running.finish(api.post(f"findings/{finding['id']}/verify/")["campaign"], within_s=900)
    judged = _wait("its verdict", lambda: _judged(api, finding["id"]))
    whole = running.launch("Every point", _sweep(line, line.grid, common))
    running.finish(whole, within_s=900)
    rates = _rates(api, whole)
    yield Figure(
        f"{RATE}, {name}", judged["realised"] / 1e6, "Mbit/s", "the best of the full grid", max(rates) / 1e6,
        "ratio at least 0.95", f"{finding['title']}: {judged['verdict']}",
    )  # fmt: skip
    # The recommended setting may be a point that the campaign did not measure; that counts as well.
    yield Figure(
        f"settings measured for it, {name}", points + 1, "points", "the full grid", len(rates), "ratio at most 0.3"
    )  # fmt: skip
    yield Figure(
        f"gain realised by it, {name}", judged["gain"], "times", "the gain predicted", judged["predicted_gain"],
        "ratio within 15 % of 1", f"{judged['pairs']} pairs",
    )  # fmt: skip


def _sweep(line: Line, factors: dict[str, str], common: Json) -> Json:
    swept = [{"name": name, "expression": expression} for name, expression in factors.items()]
    return {"name": "sweep", "tool": "iperf3-tcp", "fixed": line.fixed, "factors": swept, **common}


def _rates(api: Rest, campaign: int) -> list[float]:
    """Return the rates (bit/s) of a campaign's points, measured once each."""
    results = [result for result in api.every(f"results/?campaign={campaign}") if result["tool"] == "iperf3-tcp"]
    return [one["value"] for result in results for one in result["samples"] if one["metric"] == "goodput"]


def _judged(api: Rest, finding: int) -> Json | None:
    (verification,) = api.get(f"findings/{finding}/")["verifications"]
    return verification if verification["verdict"] not in ("", "open") else None


def _first(api: Rest, path: str) -> Json | None:
    return next(api.every(path), None)


def _wait(words: str, ask: Callable[[], Json | None]) -> Json:
    """Return what workers draw from a campaign that is at its end."""
    deadline = time.monotonic() + CONCLUDED_S
    while not (answer := ask()):
        if time.monotonic() > deadline:
            raise stack.BenchmarkError(f"There is no sign of {words} after {CONCLUDED_S} s.")
        time.sleep(0.5)
    return answer
