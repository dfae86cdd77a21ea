"""What batch schedulers print of their jobs: states, reasons, time in the queue and in the run."""

import pathlib
import re
import shlex
from collections.abc import Sequence
from types import ModuleType

from apps.bench.schedulers import sge, slurm
from apps.bench.schedulers.jobs import Json, ScheduledJob

__all__ = ["Json", "ScheduledJob", "read", "recognises"]

_SCHEDULERS: dict[str, ModuleType] = {"slurm": slurm, "sge": sge}
_RECORDED = re.compile(r"\A\$ ([^\n]*)\n(.*?)(?:^\[exit \d+\]\s*)?\Z", re.DOTALL | re.MULTILINE)


def recognises(text: str, argv: Sequence[str] = ()) -> bool:
    """Return whether a text is what a scheduler's command printed, or one's accounting file."""
    return _scheduler_of(*_unpack(text, argv)) != ""


def read(text: str, argv: Sequence[str] = ()) -> Json:
    """Return ``{"scheduler": "slurm" or "sge", "kind", "jobs": […], …}``; a ToolFailure is what the scheduler said.

    The text may begin with the line ``$ command`` and end with ``[exit N]``; the command counts if `argv` is empty,
    for some outputs are no more than a number. A job's fields are those of `ScheduledJob`.
    """
    text, argv, program = _unpack(text, argv)
    name = _scheduler_of(text, argv, program) or "slurm"
    return {"scheduler": name, **_SCHEDULERS[name].read(text, argv, program)}


def _unpack(text: str, argv: Sequence[str]) -> tuple[str, Sequence[str], str]:
    """Return the text alone, the command from the scheduler's program on, and that program's name."""
    recorded = _RECORDED.match(text)
    if recorded:
        text = recorded[2]
        argv = argv or _words(recorded[1])
    programs = {program for scheduler in _SCHEDULERS.values() for program in scheduler.PROGRAMS}
    names = [pathlib.PurePath(word).name for word in argv]
    start = next((index for index, name in enumerate(names) if name in programs), None)
    return (text, argv[start:], names[start]) if start is not None else (text, argv, "")


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _scheduler_of(text: str, argv: Sequence[str], program: str) -> str:
    """Return the scheduler's name, "" if none is known for this; the program's own name counts first."""
    by_program = (name for name, scheduler in _SCHEDULERS.items() if program and program in scheduler.PROGRAMS)
    by_text = (name for name, scheduler in _SCHEDULERS.items() if scheduler.recognises(text, program))
    return next(by_program, None) or next(by_text, "")
