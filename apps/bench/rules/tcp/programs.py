"""Commands that a person starts by hand, whole: the program, its options, and which side starts it."""

from collections.abc import Mapping
from typing import Any

from apps.bench.rules.told import known_or_none
from apps.bench.toolkit.ways import BOTH
from apps.bench.units import format_quantity

# Stands for the other end's name or address, which rules do not know.
SERVER = "SERVER"
# What connections are started with; of what a measurement was made with these are what a command can ask for.
OPTIONS = ("window", "streams", "direction", "congestion", "mss", "pace")
REVERSE = "reverse"


def iperf3(setting: Mapping[str, Any] | None = None, own: str = "") -> str:
    """Return the client's command line for a setting: all of it that the sender does not do by itself.

    `own` is the sender's own congestion control, "" where nobody knows it. Windows and segments are in bytes, a pace
    in bit/s over all streams.
    """
    asked = held(setting or {})
    words = ["iperf3", "-c", SERVER, *_options(asked)]
    if asked.get("congestion") and asked["congestion"] != own:
        words += ["-C", str(asked["congestion"])]
    if asked.get("mss"):
        words += ["-M", f"{asked['mss']:.0f}"]
    if asked.get("pace"):
        words += ["-b", f"{asked['pace'] / (asked.get('streams') or 1):.0f}"]
    ways = {REVERSE: ["-R"], BOTH: ["--bidir"]}
    return " ".join([*words, *ways.get(str(asked.get("direction")), [])]) + "\n"


def held(setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a setting a command can ask for, and a measurement has to ask for again."""
    return {name: value for name in OPTIONS if (value := known_or_none(setting, name)) is not None}


def said_of(setting: Mapping[str, Any]) -> str:
    """Return what a setting asks for beside a window, streams and a direction, as a title has it; "" for nothing."""
    asked = held(setting)
    words = [str(asked["congestion"])] if asked.get("congestion") else []
    units = {"mss": "B", "pace": "bit/s"}
    return ", ".join(
        words + [f"{name} = {format_quantity(asked[name], units[name])}" for name in units if asked.get(name)]
    )


def words(*, window: int = 0, streams: int = 1) -> str:
    """Return the options as a title has them, "iperf3" alone where there are none."""
    return " ".join(["iperf3", *_options({"window": window, "streams": streams})])


def _options(asked: Mapping[str, Any]) -> list[str]:
    window, streams = asked.get("window") or 0, asked.get("streams") or 1
    return [*(["-w", f"{window:.0f}"] if window else []), *(["-P", f"{streams:.0f}"] if streams > 1 else [])]
