"""The program `fathom-slurm`: runs one step in an allocation that several measurements share (Slurm).

    fathom-slurm --name N --idle S --wait S --sbatch P --squeue P --scancel P
        [--nodes N] [--ntasks N] [--time T] [--partition P] -- SRUN WORD…

It takes the allocation of that name if there is one, else hands one of that room in, waits until it runs, and
becomes srun in it. The allocation ends by itself when no step has run in it for the idle time: nothing has to be told
that the last measurement is over, and nothing is left behind by a measurement, an agent or a node that dies.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

NAME = "fathom-slurm"
LOOK_S = 1.0
# Reasons of squeue(1) that no time removes: nobody need wait for these.
HOPELESS = re.compile(
    r"PartitionNodeLimit|PartitionTimeLimit|BadConstraints|Invalid(?:QOS|Account)|(?:Account|QOS)NotAllowed|PerJobLimit"
)
ANSWER_S = 30.0
# What is said of an allocation that is handed in, in sbatch's options.
ROOM = ("nodes", "ntasks", "time", "partition")
# The batch script of the allocation; Slurm takes it by its own words, and runs it on the first of the nodes.
KEEPER = """#!/bin/sh
quiet=0
while [ "$quiet" -lt {idle} ]; do
  sleep {step}
  if squeue --noheader --steps --jobs="$SLURM_JOB_ID" --format=%i | grep -qv -e '[.]batch$' -e '[.]extern$'; then
    quiet=0
  else
    quiet=$((quiet + {step}))
  fi
done
"""
KEEPER_LOOKS_S = 5


class Refused(Exception):
    """What one of Slurm's commands said instead of doing what it was to do."""


class Allocation:
    """The allocation of a name: found or handed in, and waited for."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.job_id = ""
        self.is_own = False

    def take(self) -> None:
        """Find the allocation, or hand one in."""
        rows = self._look(f"--name={self._options.name}")
        if rows:
            self.job_id = rows[0][0]
            return
        script = KEEPER.format(idle=max(1, round(self._options.idle)), step=KEEPER_LOOKS_S)
        room = {name: getattr(self._options, name) for name in ROOM}
        words = [f"--job-name={self._options.name}", "--output=/dev/null"]
        words += [f"--{name}={value}" for name, value in room.items() if value is not None]
        self.job_id = _ask([self._options.sbatch, "--parsable", *words], script).strip().partition(";")[0]
        if not self.job_id.isdigit():
            raise Refused(f"sbatch gave no job number: {self.job_id[:100]}")
        self.is_own = True

    def wait(self) -> float:
        """Return after how many seconds it ran; Refused if it does not in time, or has ended."""
        began, reason = time.monotonic(), ""
        while True:
            rows = self._look(f"--jobs={self.job_id}")
            if not rows:
                raise Refused(f"job {self.job_id} has ended before it was used")
            _job_id, state, why = rows[0]
            if state == "RUNNING":
                return time.monotonic() - began if reason else 0.0
            reason = why
            if HOPELESS.search(reason) or time.monotonic() - began > self._options.wait:
                raise Refused(f"Unable to allocate resources: job {self.job_id} is {state} ({reason})")
            time.sleep(LOOK_S)

    def withdraw(self) -> None:
        """Cancel it, if it is this program's own and has not been used by others."""
        if self.is_own:
            subprocess.run([self._options.scancel, self.job_id], check=False, timeout=ANSWER_S)

    def _look(self, which: str) -> list[list[str]]:
        """Return [number, state, reason] of the jobs that wait or run."""
        words = ["--noheader", "--me", "--states=PENDING,CONFIGURING,RUNNING", "--format=%A|%T|%r", which]
        text = _ask([self._options.squeue, *words])
        return [row for row in (line.split("|") for line in text.splitlines()) if len(row) == 3]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; it returns only if there was nothing to run the step in."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    own, step = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    options = _parser().parse_args(own)
    if not step or not Path(step[0]).is_absolute():
        print("fathom-slurm: error: there is no command with its path behind --", file=sys.stderr)
        return 2
    allocation = Allocation(options)
    signal.signal(signal.SIGTERM, lambda *_args: _stop(allocation))
    try:
        allocation.take()
        waited = allocation.wait()
    except (Refused, OSError, subprocess.TimeoutExpired) as problem:
        print(f"fathom-slurm: error: {problem}", file=sys.stderr)
        allocation.withdraw()
        return 1
    what = "taken" if allocation.is_own else "shared"
    print(f"fathom-slurm: job {allocation.job_id} {what}, waited {waited:.1f} s", file=sys.stderr, flush=True)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.execv(step[0], [step[0], f"--jobid={allocation.job_id}", *step[1:]])  # noqa: S606


def _stop(allocation: Allocation) -> NoReturn:
    allocation.withdraw()
    sys.exit(143)


def _ask(argv: Sequence[str], text: str = "") -> str:
    """Return what a command printed; Refused with its last words if it failed."""
    answer = subprocess.run(argv, input=text, capture_output=True, text=True, check=False, timeout=ANSWER_S)
    if answer.returncode:
        # squeue knows no job of a number that is long gone, which is an answer, too.
        if "Invalid job id" in answer.stderr:
            return ""
        raise Refused((answer.stderr.strip() or f"{argv[0]} failed").splitlines()[-1][:300])
    return answer.stdout


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=NAME, allow_abbrev=False)
    parser.add_argument("--name", required=True)
    parser.add_argument("--idle", type=float, required=True)
    parser.add_argument("--wait", type=float, required=True)
    for name in ("sbatch", "squeue", "scancel"):
        parser.add_argument(f"--{name}", required=True)
    for name in ROOM:
        parser.add_argument(f"--{name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
