"""The command line of fio: what it gives to each of its jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.bench.tools._fio.sizes import plain

# Options whose value may stand as a word of its own, without "=".
_VALUED = (
    *("name", "rw", "readwrite", "bs", "blocksize", "size", "filesize", "ioengine", "iodepth", "numjobs", "runtime"),
    *("ramp_time", "rwmixread", "fsync", "direct", "verify", "rate", "rate_iops", "thinktime", "latency_target"),
    *("filename", "directory", "output", "output-format", "status-interval", "unified_rw_reporting"),
    *("kb_base", "unit_base"),
)
# Of these a report has one entry, whatever the number of processes; groups of jobs have one each.
_GROUPED, _APART = "group_reporting", ("stonewall", "new_group", "wait_for_previous", "client", "section")


@dataclass(frozen=True)
class CommandLine:
    """The options of each job, what was given to all included; `is_whole` unless a job file has more of them."""

    jobs: tuple[Mapping[str, str], ...] = ()
    is_whole: bool = False

    @property
    def shared(self) -> dict[str, str]:
        """Return what all jobs were given alike, and as numjobs the processes of all."""
        alike = {name: value for name, value in self.union.items() if name not in self.unlike}
        return alike | ({"numjobs": str(processes(self.jobs))} if len(self.jobs) > 1 else {})

    @property
    def union(self) -> dict[str, str]:
        """Return what any of the jobs was given."""
        return {name: value for job in self.jobs for name, value in job.items()}

    @property
    def unlike(self) -> frozenset[str]:
        """Return the options that not all jobs were given alike."""
        return unlike(self.jobs)

    @property
    def entries(self) -> int | None:
        """Return how many jobs or groups a report of this command has, None if it does not tell."""
        if not self.is_whole or any(name in self.union for name in _APART):
            return None
        return 1 if _GROUPED in self.shared else None if _GROUPED in self.union else processes(self.jobs)


def read_command(argv: Sequence[str]) -> CommandLine:
    """Return what a command line says, amounts as plain numbers; what stands before the first job is given to all."""
    common: dict[str, str] = {}
    jobs: list[dict[str, str]] = []
    section, is_whole = common, len(argv) > 1
    words = list(reversed(argv[1:]))
    while words:
        word = words.pop()
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            is_whole = False
            continue
        if not equals and name in _VALUED and words and not words[-1].startswith("-"):
            value = words.pop()
        if name != "name":
            section[name] = plain(name, value, section)
        elif value.startswith("global"):
            section = common
        else:
            section = {**common}
            jobs.append(section)
    return CommandLine(tuple(jobs or ([common] if common else [])), is_whole)


def unlike(jobs: Sequence[Mapping[str, str]]) -> frozenset[str]:
    """Return the options that not all jobs were given alike; that their names differ is no difference."""
    names = {name for job in jobs for name in job}
    return frozenset(name for name in names if len({job.get(name) for job in jobs}) > 1) - {"name", "numjobs"}


def processes(jobs: Sequence[Mapping[str, str]]) -> int:
    """Return how many processes jobs have together."""
    return sum(int(job["numjobs"]) if job.get("numjobs", "").isdecimal() else 1 for job in jobs)
