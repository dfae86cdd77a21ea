"""The parameters that a report of fio from an archive was made with."""

from collections.abc import Mapping

from apps.bench import units
from apps.bench.outputs import reconstruction, texts
from apps.bench.outputs.scales import BINARY, scaled
from apps.bench.toolkit import Output, Tool, Value
from apps.bench.tools._fio.report import Contradiction, FioUnreadable, SeveralGroups, read_report

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
    options = _argv_options(output)
    try:
        report = read_report(texts.read_text(output))
    except (FioUnreadable, Contradiction, SeveralGroups):
        report = None
    # A job file holds options that no command line has.
    is_whole = bool(options) and all(word.startswith("--") for word in output.argv[1:])
    is_whole = is_whole or bool(report and report.options)
    options = {**(report.printed if report else {}), **options, **(report.options if report else {})}
    parameters: dict[str, Value] = {**_USUAL, "direct": _flag(options, "direct")} if is_whole else {}
    parameters |= {name: options.get(word) for word, name in _WORDS.items() if word in options}
    parameters |= {
        name: scaled(options[word].rstrip("bB"), BINARY) for word, name in _SIZES.items() if word in options
    }
    parameters |= {name: scaled(options[word], BINARY) for word, name in _NUMBERS.items() if word in options}
    if parameters.get("pattern") == "readwrite":
        parameters["pattern"] = "rw"
    timed = "time_based" in options or "runtime" in options
    if is_whole:
        parameters |= {"duration": _seconds(options.get("runtime")) if timed else 0.0}
        parameters |= {"ramp": _seconds(options.get("ramp_time"))}
    for word in report.unlike if report else ():
        parameters.pop(_NAMES.get(word, word), None)
    return reconstruction.keep_valid(tool, parameters)


def _argv_options(output: Output) -> dict[str, str]:
    options = {}
    for word in output.argv[1:]:
        name, _equals, value = word.removeprefix("--").partition("=")
        if word.startswith("--"):
            options[name] = value
    return options


def _flag(options: Mapping[str, str], name: str) -> bool:
    return name in options and options[name] != "0"


def _seconds(text: str | None) -> float:
    """Return the seconds of a duration of fio's, 0 if it is none."""
    try:
        value = units.parse_quantity(text or "0", "duration")
    except units.UnitError:
        return 0.0
    return float(value)
