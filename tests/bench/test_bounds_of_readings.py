"""Whatever a tool prints, a reading keeps what can be stored, summed and shown, and names what it left out."""

import dataclasses
import json
import math
import re
from random import Random
from typing import Any

import pytest

from apps.bench import bounds, judges, tools
from apps.bench.toolkit import Metric, Output, Reading, SampleSeries, SampleValue, Tool, ToolFailure
from tests.bench.tools import recordings
from tests.rotation import part_of

# What is printed in the place of numbers.
EVIL = (
    *("nan", "NaN", "inf", "-Infinity", "1e308", "-1e308", "1e999", "9" * 5000, "-" + "9" * 400, "-5", "1e-320"),
    *("0x10", "1" * 19, "", "\\u0000", "%s", "1,5", "\u0663"),
)
_NUMBER = re.compile(rb"(?<![\w.])\d+(?:\.\d+)?")
_MOST_PLACES = 6


def assert_kept_within(reading: Reading, tool: Tool) -> None:
    """What columns, JSON and sums ask of a reading holds."""
    units = {metric.name: metric for metric in tool.metrics}
    assert len(reading.samples) == len({sample.metric for sample in reading.samples}) <= bounds.MOST_SAMPLES
    for sample in reading.samples:
        assert math.isfinite(sample.value)
        assert abs(sample.value) <= 1e60
        metric = units[sample.metric]
        assert sample.value >= 0 or metric.higher_is_better is None or metric.unit in ("fraction", "1"), sample
    assert sum(len(series.times) for series in reading.series) <= bounds.MOST_POINTS
    for series in reading.series:
        assert len(series.metric) <= 50 and len(series.stream) <= 50 and len(series.unit) <= 10
        assert all(math.isfinite(value) and abs(value) <= 1e60 for value in (*series.times, *series.values))
    text = json.dumps({**reading.as_json(), "samples": [], "series": []}, allow_nan=False)
    assert "\\u0000" not in text
    assert len(text) <= 3 * bounds.MOST_CHARACTERS + 100_000
    json.loads(text)
    assert len(reading.tool_version) <= 100


@pytest.mark.parametrize("slug", sorted(tool.slug for tool in tools.all_tools()))
def test_of_a_broken_recording_only_what_can_be_kept_is_read(slug: str) -> None:
    """Numbers of each tool's recordings are replaced: it is read within bounds, or refused in words."""
    tool, draw = tools.get(slug), Random(slug)
    names = recordings.names(slug) if (recordings.DATA / slug).is_dir() else []
    read = 0
    for name in draw.sample(names, min(3, len(names))):
        output = recordings.load(slug, name)
        for evil in part_of(EVIL):
            broken = dataclasses.replace(output, stdout=_broken(output.stdout, evil.encode(), draw))
            for role in tool.roles:
                read += _read(tool, dataclasses.replace(broken, role=role.name))
    assert read or slug not in _ROBUST


# These have figures still where a few of their numbers are none.
_ROBUST = ("fio", "iperf3-tcp", "iperf3-udp", "ping")


def _broken(text: bytes, evil: bytes, draw: Random) -> bytes:
    places = list(_NUMBER.finditer(text))
    for place in sorted(draw.sample(places, min(_MOST_PLACES, len(places))), key=lambda found: -found.start()):
        text = text[: place.start()] + evil + text[place.end() :]
    return text


def _read(tool: Tool, output: Output) -> bool:
    try:
        params = tool.clean(tool.recover(output))
    except (ToolFailure, tools.UnknownTool, ValueError):
        params = {}
    try:
        reading = judges.read_run([output], params, tool)
    except ToolFailure as failure:
        json.dumps(failure.as_json(), allow_nan=False)
        return False
    assert_kept_within(reading, tool)
    return True


# A reader that forgot to make a number of what was printed.
TEXT: Any = "1"
# Far more than are kept, but none that every process of a run would have to hold in its memory.
MANY, BEYOND = 40 * bounds.MOST_SAMPLES, (1.0,) * (bounds.MOST_POINTS + 1)
GOOD = Reading((SampleValue("rtt_min", 0.01), SampleValue("rtt_max", 0.02)), tool_version="1")
WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "not a number": ("no-number", {"samples": (SampleValue("rtt_avg", math.nan),)}),
    "infinite": ("no-number", {"samples": (SampleValue("rtt_avg", -math.inf),)}),
    "a text": ("no-number", {"samples": (SampleValue("rtt_avg", TEXT),)}),
    "too large": ("too-large", {"samples": (SampleValue("rtt_avg", 1e308),)}),
    "of 5,000 digits": ("too-large", {"samples": (SampleValue("rtt_avg", 10**5000),)}),
    "negative": ("negative", {"samples": (SampleValue("rtt_avg", -1e-9),)}),
    "of a long name": ("no-metric", {"samples": (SampleValue("m" * 100_000, 1.0),)}),
    "twice": ("figure-twice", {"samples": (SampleValue("rtt_min", 5.0),)}),
    "of many names": ("no-metric", {"samples": tuple(SampleValue(f"m{n}", 1.0) for n in range(MANY))}),
    "curve of no numbers": ("curves-cut", {"series": (SampleSeries("rtt", "", "s", (0.0, 1.0), (math.nan, 1.0)),)}),
    "curve of a long unit": ("curves-cut", {"series": (SampleSeries("rtt", "", "s" * 11, (0.0,), (1.0,)),)}),
    "curve of a long stream": ("curves-cut", {"series": (SampleSeries("rtt", "x" * 51, "s", (0.0,), (1.0,)),)}),
    "curve with NUL": ("curves-cut", {"series": (SampleSeries("rtt", "\0", "s", (0.0,), (1.0,)),)}),
    "curve of too many points": ("curves-cut", {"series": (SampleSeries("rtt", "", "s", BEYOND, BEYOND),)}),
    "curve twice": ("curves-cut", {"series": (SampleSeries("rtt", "", "s", (0.0,), (1.0,)),) * 2}),
    "NUL beside": ("seen-cut", {"observed": {"host": "a\0b", "ok": 1}}),
    "half a character beside": ("seen-cut", {"observed": {"host": ["\ud800"], "ok": 1}}),
    "infinity beside": ("seen-cut", {"granted": {"window": [{"a": math.inf}], "ok": 1}}),
    "5,000 digits beside": ("seen-cut", {"requested": {"window": 10**5000, "ok": 1}}),
    "megabytes beside": ("seen-cut", {"observed": {"x": ["y" * 10_000] * 1000, "ok": 1}}),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_left_out_is_named_and_the_rest_stays(name: str) -> None:
    code, values = WRONG[name]
    tool = tool_of_three_times()
    given = dataclasses.replace(GOOD, **{**values, "samples": (*GOOD.samples, *values.get("samples", ()))})
    reading = bounds.within(given, tool)
    assert_kept_within(reading, tool)
    assert reading.samples == GOOD.samples
    (flag,) = reading.flags
    assert (flag.name, flag.severity) == (code, "warning")
    assert len(str(flag.message)) < 2000
    for part in ("requested", "granted", "observed"):
        if part in values:
            assert getattr(reading, part) == {"ok": 1}
    # What is within bounds is left as it is.
    assert bounds.within(reading, tool) is reading


def tool_of_three_times() -> Any:
    """Return a tool of three times."""
    tool = tools.get("ping")
    metrics = tuple(Metric(name, name, "s", False) for name in ("rtt_min", "rtt_avg", "rtt_max"))

    return type("Three", (type(tool),), {"metrics": metrics})()


def test_a_reading_of_which_nothing_is_left_is_none() -> None:
    with pytest.raises(ToolFailure) as refused:
        bounds.within(Reading((SampleValue("rtt_min", 1e308),)), tool_of_three_times())
    assert refused.value.code == "no-figures"
    assert "rtt_min" in str(refused.value.message)
    assert refused.value.remedy and not refused.value.retryable
