"""Which processes an agent ends when a job is over: the job's orphans, and none that it has for other reasons."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rotation import number_of

ROOT = Path(__file__).resolve().parents[2]
# In a process of its own, for one cannot leave off adopting orphans. Each child begins a session, as servers do; the
# orphan hides its session, folder and home.
PROGRAM = """
import os, pathlib, subprocess, sys, time
from workers.agent import identity, process
from workers.agent.sandbox import OFFSPRING

def children():
    return pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()

earlier = subprocess.Popen(["sleep", "60"], start_new_session=True)
time.sleep(0.1)
if sys.argv[2] == "adopts":
    assert OFFSPRING.adopt()
words = ["sh", "-c", "cd /; HOME=/ setsid sleep 5 >/dev/null 2>&1 &"]
job = process.Process(words, "/bin/sh", pathlib.Path(sys.argv[1]), identity.find_identity("nobody"), 10_000)
job.attend(10, None)
job.wait()
print(job.exit_code, children() == [str(earlier.pid)] and earlier.poll() is None)
earlier.kill()
"""


@pytest.mark.parametrize("way", ["adopts", "does not"])
def test_a_job_that_ends_takes_its_orphans_and_nobody_else(home: Path, way: str) -> None:
    argv = [sys.executable, "-c", PROGRAM, str(home), way]
    ended = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.split() == ["0", "True"]


# Many short jobs beside each other: the end of one looks for orphans while another is made, or waits to be reaped.
CROWD = """
import pathlib, sys, threading
from workers.agent import identity, process
from workers.agent.sandbox import OFFSPRING

assert OFFSPRING.adopt()
nobody = identity.find_identity("nobody")
codes = []

def work(number):
    folder = pathlib.Path(sys.argv[1]) / str(number)
    folder.mkdir(mode=0o755)
    for _time in range(int(sys.argv[2])):
        job = process.Process(["sh", "-c", "exit 3"], "/bin/sh", folder, nobody, 10_000)
        job.attend(30, None)
        job.wait()
        codes.append((job.exit_code, job.end_signal))

threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(codes), sorted(set(map(str, codes))))
"""


def test_the_end_of_one_job_takes_neither_the_life_nor_the_exit_status_of_another(home: Path) -> None:
    times = number_of(60)
    argv = [sys.executable, "-c", CROWD, str(home), str(times)]
    ended = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True)
    assert ended.stdout.split("\n")[0] == f"{6 * times} ['(3, None)']", ended.stderr
