"""Two real clients of IOzone of which one is late, watched by the agent's own telemetry: what they moved together."""

import base64
import contextlib
import json
import shutil
import signal
import subprocess
import threading
import time
import zlib
from pathlib import Path

import pytest

from apps.bench import tools
from apps.bench.toolkit import Output
from workers.agent.telemetry import Sampler

pytestmark = pytest.mark.skipif(not shutil.which("iozone"), reason="needs iozone")
# One record after the other, each on its way before the next: the file systems of test machines are slow and fast.
TOOL, RECORD_KIB, WANTED_S = "iozone", 16, 7.0
# For how much of the time the second one is held up.
REST = 0.35
# How often it is tried to have them run together for long enough, on a machine that starts programs at once.
MOST_TRIES = 6
# How near to the looks the figure comes. Where no try began as promptly, it is as much less sure as that took.
NEAR = 0.03


class Client:
    """A real IOzone that writes its file once, and how much it had written when, looked at all the time."""

    def __init__(self, name: str, folder: Path, size_kib: int, sampler: Sampler) -> None:
        self.argv = ("iozone", "-e", "-c", "-w", "-o", "-+n", "-r", f"{RECORD_KIB}k", "-s", f"{size_kib}k", "-i", "0",
                     "-f", str(folder / name))  # fmt: skip
        self.name, self.seen = name, [(time.time(), 0)]
        self.recording = sampler.record()
        self.started = time.time()
        self.process = subprocess.Popen(self.argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
        self.recording.begin(self.process.pid, self.started)

    def look(self) -> None:
        """Note what it has written."""
        lines = Path(f"/proc/{self.process.pid}/io").read_text().splitlines()
        self.seen.append((time.time(), next(int(line.split()[1]) for line in lines if line.startswith("wchar"))))

    def end(self) -> Output:
        """Wait for its end, and return what an agent would send."""
        stdout, stderr = self.process.communicate()
        ended = time.time()
        packed = self.recording.end("127.0.0.1", ended)
        told = json.loads(zlib.decompress(base64.b64decode(packed)))
        return Output(
            "client", "write", self.name, self.argv, stdout, stderr, self.process.returncode,
            started_at=self.started, ended_at=ended, telemetry=told,
        )  # fmt: skip

    @property
    def wrote(self) -> float:
        """Return when it had begun to write."""
        return next((at for at, written in self.seen if written > 2**14), time.time())

    def moved(self, first: float, last: float) -> float:
        """Return the bytes between two times, by the looks."""
        return self._at(last) - self._at(first)

    def _at(self, moment: float) -> float:
        for (left, before), (right, after) in zip(self.seen, self.seen[1:], strict=False):
            if left <= moment <= right:
                return before + (after - before) * (moment - left) / max(right - left, 1e-9)
        return self.seen[-1][1]


def watch(rests: dict[Client, float]) -> list[Output]:
    """Look at all clients till each ends, and hold it up meanwhile for its part of each tenth of a second."""

    def hold_up(client: Client, rest: float) -> None:
        # Once it writes: what comes before is no part of what it measures.
        while rest and client.seen[-1][1] < 2**20 and client.process.poll() is None:
            time.sleep(0.005)
        while rest and client.process.poll() is None:
            client.process.send_signal(signal.SIGSTOP)
            time.sleep(rest / 10)
            client.process.send_signal(signal.SIGCONT)
            time.sleep((1 - rest) / 10)

    threads = [threading.Thread(target=hold_up, args=pair) for pair in rests.items()]
    for thread in threads:
        thread.start()
    outputs: dict[Client, Output] = {}
    while len(outputs) < len(rests):
        for client in rests.keys() - outputs.keys():
            if client.process.poll() is not None:
                outputs[client] = client.end()
                continue
            with contextlib.suppress(OSError, StopIteration):
                client.look()
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    return [outputs[client] for client in rests]


def test_two_real_clients_of_which_one_is_late(tmp_path: Path) -> None:
    sampler = Sampler()
    sampler.start()
    size_kib, first, last = 16 * 1024, 0.0, 0.0
    for _try in range(MOST_TRIES):
        # Nobody knows how fast a disk is: until all of them ran together for long enough there is more to write.
        size_kib = int(size_kib * min(8.0, 1.5 * WANTED_S / max(last - first, 1.5)))
        clients = [Client(name, tmp_path, size_kib // 1024 * 1024, sampler) for name in ("one", "two")]
        outputs = watch({clients[0]: 0.0, clients[1]: REST})
        first, last = max(client.started for client in clients), min(output.ended_at or 0.0 for output in outputs)
        # A machine that is too busy to start a program says little of the clients: once more.
        delay = max(client.wrote - client.started for client in clients) / (last - first)
        if last - first >= WANTED_S and delay <= NEAR:
            break
    else:
        assert last - first >= WANTED_S
    size_kib = size_kib // 1024 * 1024
    params = tools.get(TOOL).clean(
        {"clients": 2, "file_size": size_kib * 1024, "record_size": RECORD_KIB * 1024, "read": False, "retest": False,
         "sync": True}
    )  # fmt: skip
    check = [
        Output("client", "check", name, ("df", "--", str(tmp_path)),
               f"Filesystem Type 1B-blocks Avail Mounted on\nx ext4 {10**13} {10**12} {tmp_path}\n".encode(), b"", 0)
        for name in ("one", "two")
    ]  # fmt: skip
    reading = tools.get(TOOL).parse([*check, *outputs], params)
    flags = {flag.name: flag for flag in reading.flags}
    truth = sum(client.moved(first, last) for client in clients) / (last - first)
    assert "low-overlap" not in flags, [
        (output.started_at, output.ended_at, output.stdout[-300:], output.telemetry["own"]) for output in outputs
    ]
    assert flags["common-window"].metrics == ("write",)
    assert reading.value("write") == pytest.approx(truth, rel=NEAR + (delay if delay > NEAR else 0.0))
