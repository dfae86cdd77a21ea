"""The parameters that a report of fio from an archive was made with."""

from collections.abc import Mapping

from apps.bench import units
from apps.bench.outputs import reconstruction
from apps.bench.toolkit import Output, Tool, Value
from apps.bench.tools._fio.argv import read_command
from apps.bench.tools._fio.figures import FioRefused
from apps.bench.tools._fio.report import TOLERANCE, FioReport, read_report
from apps.bench.tools._fio.sizes import whole

_SIZES = {"bs": "block_size", "blocksize": "block_size", "size": "file_size", "filesize": "file_size"}
_NUMBERS = {"iodepth": "depth", "numjobs": "jobs", "rwmixread": "read_share", "fsync": "sync_every"}
_WORDS = {"rw": "pattern", "readwrite": "pattern", "ioengine": "engine", "verify": "verify"}
_NAMES = _SIZES | _NUMBERS | _WORDS | {"runtime": "duration", "time_based": "duration", "ramp_time": "ramp"}


# What fio takes where it is not told (its HOWTO), where all that it was told is known.
_USUAL: Mapping[str, Value] = {
    "engine": "psync",
    "pattern": "read",
    "block_size": 4096,
    "depth": 1,
    "jobs": 1,
    "read_share": 50,
    "sync_every": 0,
    "verify": "",
}


def recover(tool: Tool, output: Output) -> dict[str, Value]:
    """Return the parameters as far as the argv and the report tell; text prints only some of what jobs were given."""
    try:
        report = read_report(output)
    except FioRefused:
        report = None
    # A job file holds options that no command line has, and others than the command line's.
    is_whole = read_command(output.argv).is_whole or bool(report and report.options)
    options = known_options(output, report)
    parameters: dict[str, Value] = {**_USUAL, "direct": _flag(options, "direct")} if is_whole else {}
    parameters |= {name: options.get(word) for word, name in _WORDS.items() if word in options}
    parameters |= {name: whole(options[word]) for word, name in (_SIZES | _NUMBERS).items() if word in options}
    if parameters.get("pattern") == "readwrite":
        parameters["pattern"] = "rw"
    timed = "time_based" in options or "runtime" in options
    if is_whole:
        parameters |= {"duration": _seconds(options.get("runtime")) if timed else 0.0}
        parameters |= {"ramp": _seconds(options.get("ramp_time"))}
    for word in _unlike(output, report):
        parameters.pop(_NAMES.get(word, word), None)
    if report and not _is_filled(report, parameters):
        parameters.pop("file_size", None)
    return reconstruction.keep_valid(tool, parameters)


def size_of(output: Output, report: FioReport) -> int | None:
    """Return the size (B) that each job's file was to have, None where nothing tells it."""
    return whole(known_options(output, report).get("size"))


def _is_filled(report: FioReport, parameters: Mapping[str, Value]) -> bool:
    """Return whether files that were only written got the size that they were to have before time was up."""
    written, size, jobs = report.ways["write"].size, parameters.get("file_size"), parameters.get("jobs") or 1
    if report.ways["read"].size or not written or not isinstance(size, int) or not isinstance(jobs, int):
        return True
    return written >= (1 - TOLERANCE) * size * jobs


def known_options(output: Output, report: FioReport | None) -> dict[str, str]:
    """Return the options that all jobs were given alike, as numjobs how many they are together."""
    command = read_command(output.argv)
    options = {
        **(report.printed if report else {}),
        **(command.shared if command.is_whole else {}),
        **(report.options if report else {}),
    }
    return {name: value for name, value in options.items() if name not in _unlike(output, report)}


def _unlike(output: Output, report: FioReport | None) -> frozenset[str]:
    return read_command(output.argv).unlike | (report.unlike if report else frozenset())


def _flag(options: Mapping[str, str], name: str) -> bool:
    return name in options and options[name] != "0"


def _seconds(text: str | None) -> float:
    """Return the seconds of a duration of fio's, 0 if it is none."""
    try:
        value = units.parse_quantity(text or "0", "duration")
    except units.UnitError:
        return 0.0
    return float(value)
