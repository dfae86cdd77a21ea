"""What of a reading can be kept: figures, names and texts within what columns, sums and pages hold.

What is beyond is left out, with a doubt that names it; the raw output has it still.
"""

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.bench import strict_json
from apps.bench.rules.base import MOST_FIGURE
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Metric, Reading, SampleSeries, SampleValue, Tool, ToolFailure

Json = dict[str, Any]

# What a column of whole numbers holds.
LARGEST = 2**63 - 1
# Of one reading: its figures, the numbers of all curves, and characters of each part of what was seen beside them.
MOST_SAMPLES, MOST_POINTS, MOST_CHARACTERS = 500, 500_000, 60_000
# Bytes of its doubts: there is room for two more, which are added to a result later.
MOST_FLAG_BYTES = 20_000
_CUT_FLAG_BYTES = 5_000
# Of metrics that the doubt bears on which stands for others.
_MOST_METRICS = 20
_GRAVEST_FIRST = ("invalid", "warning", "info")
LONGEST_NAME, LONGEST_UNIT, LONGEST_VERSION, LONGEST_TEXT = 50, 10, 100, 20_000
DEEPEST = 32
# Of these there is nothing below zero, where more of them is better or worse.
_NEVER_NEGATIVE = ("s", "bit/s", "B/s", "B", "count", "1/s", "op/s", "Mop/s", "%")
# Of these there is always some, if perhaps less than the digits that were printed can show.
_NEVER_ZERO = ("s", "bit/s", "B/s", "1/s", "op/s", "Mop/s")
_SHOWN = 10

_WORDS = {
    "no-number": _("What the tool printed for %(metrics)s is no number: it was left out."),
    "too-large": _("What the tool printed for %(metrics)s is larger than anything measured: it was left out."),
    "negative": _("What the tool printed for %(metrics)s is less than nothing: it was left out."),
    "below-digits": _(
        "What the tool printed for %(metrics)s is zero: it is less than its digits can show, and was left out."
    ),
    "no-metric": _("The tool has no metric %(metrics)s: what was printed for it was left out."),
    "figure-twice": _("The tool printed more than one figure for %(metrics)s: the first was taken."),
    "too-many": _("The tool printed more than %(most)s figures: those of %(metrics)s and others were left out."),
}
_CURVES = _(
    "Points of the curves of %(metrics)s were left out: they are no numbers, or too many, or of names that are too"
    " long."
)
_BESIDE = _("Of what was seen beside the figures this cannot be kept, and was left out: %(names)s.")
_DOUBTS = _("There are more doubts than can be kept. Left out are %(count)s: %(names)s.")
_NOTHING_LEFT = _("None of the figures can be kept. %(why)s")
_LOOK = _("Look at the raw output on this page: the tool, or what it measured with, went wrong.")


def is_bounded(number: float) -> bool:
    """Return whether a number is one that columns hold, and of which sums and squares of many can be computed."""
    if isinstance(number, int):
        return abs(number) <= LARGEST
    return math.isfinite(number) and abs(number) <= MOST_FIGURE


def is_text(text: str) -> bool:
    """Return whether a database has a place for all characters of a text: not for NUL and half characters."""
    if text.isascii():
        return "\0" not in text
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def within(reading: Reading, tool: Tool) -> Reading:
    """Return what of a reading can be kept, with a doubt for each kind of what cannot.

    ToolFailure if it had figures and none is left.
    """
    metrics = {metric.name: metric for metric in tool.metrics}
    samples, wrong = _samples(reading.samples, metrics)
    flags = [_flag(name, affected) for name, affected in wrong.items()]
    if reading.samples and not samples:
        why = flags[0].message.as_json()
        raise ToolFailure("no-figures", Message(_NOTHING_LEFT, {"why": why}), False, Message(_LOOK))
    series, cut = _series(reading.series)
    if cut:
        flags.append(Flag("curves-cut", "warning", Message(_CURVES, {"metrics": _listed(cut)})))
    beside, unsound = {}, []
    for part in ("requested", "granted", "observed"):
        beside[part], names = _beside(getattr(reading, part))
        unsound += names
    if unsound:
        flags.append(Flag("seen-cut", "warning", Message(_BESIDE, {"names": _listed(unsound)})))
    version = _text(reading.tool_version)[:LONGEST_VERSION]
    flag_names = {flag.name for flag in reading.flags}
    doubts = _gravest((*reading.flags, *(flag for flag in flags if flag.name not in flag_names)))
    if not flags and doubts == reading.flags and version == reading.tool_version:
        return reading
    return dataclasses.replace(
        reading,
        samples=samples,
        series=series,
        flags=doubts,
        tool_version=version,
        **beside,
    )


def problem_of(value: object, metric: Metric) -> str:
    """Return which of the words say why a figure of a metric cannot be kept, empty if it can."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "no-number"
    if isinstance(value, float) and not math.isfinite(value):
        return "no-number"
    if abs(value) > MOST_FIGURE:
        return "too-large"
    if value < 0 and metric.unit in _NEVER_NEGATIVE and metric.higher_is_better is not None:
        return "negative"
    return ""


def _below_digits(value: float, metric: Metric) -> str:
    return "below-digits" if not value and metric.unit in _NEVER_ZERO and not metric.has_zero else ""


def _is_nothing(sample: SampleValue, all_values: Sequence[SampleValue]) -> bool:
    """Return whether a rate is zero because every datagram was counted as lost: no digits hide any."""
    return sample.metric == "goodput" and any(other.metric == "loss" and other.value == 1 for other in all_values)


def _samples(
    values: Iterable[SampleValue], metrics: Mapping[str, Metric]
) -> tuple[tuple[SampleValue, ...], dict[str, list[str]]]:
    samples: dict[str, SampleValue] = {}
    wrong: dict[str, list[str]] = defaultdict(list)
    values = tuple(values)
    for sample in values:
        metric = metrics.get(sample.metric)
        if metric is None:
            wrong["no-metric"].append(sample.metric)
        elif (problem := problem_of(sample.value, metric)) or (
            (problem := _below_digits(sample.value, metric)) and not _is_nothing(sample, values)
        ):
            wrong[problem].append(sample.metric)
        elif sample.metric in samples:
            wrong["figure-twice"].append(sample.metric)
        elif len(samples) == MOST_SAMPLES:
            wrong["too-many"].append(sample.metric)
        else:
            samples[sample.metric] = sample
    return tuple(samples.values()), wrong


def _series(curves: Iterable[SampleSeries]) -> tuple[tuple[SampleSeries, ...], list[str]]:
    """Return the curves with the points that are numbers, and the metrics of those of which something is missing."""
    series_by_key: dict[tuple[str, str], SampleSeries] = {}
    cut: list[str] = []
    room = MOST_POINTS
    for whole in curves:
        series = _of_numbers(whole)
        key = (series.metric, series.stream)
        is_empty = bool(whole.times) and not series.times
        if is_empty or key in series_by_key or len(series.times) > room or not _is_named(series):
            cut.append(whole.metric)
            continue
        if series is not whole:
            cut.append(whole.metric)
        room -= len(series.times)
        series_by_key[key] = series
    return tuple(series_by_key.values()), cut


def _of_numbers(series: SampleSeries) -> SampleSeries:
    if len(series.times) == len(series.values) and _are_numbers(series.times) and _are_numbers(series.values):
        return series
    points = [pair for pair in zip(series.times, series.values, strict=False) if _are_numbers(pair)]
    times, values = tuple(pair[0] for pair in points), tuple(pair[1] for pair in points)
    return dataclasses.replace(series, times=times, values=values)


def _is_named(series: SampleSeries) -> bool:
    names = ((series.metric, LONGEST_NAME), (series.stream, LONGEST_NAME), (series.unit, LONGEST_UNIT))
    return all(len(name) <= limit and is_text(name) for name, limit in names)


def _are_numbers(values: Sequence[float]) -> bool:
    return all(map(_is_number, values))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_bounded(value)


def _beside(mapping: Json) -> tuple[Json, list[str]]:
    """Return what can be kept of a part of the reading, and the names of the others."""
    omitted = [name for name, value in mapping.items() if not (is_text(name) and _is_sound(value))]
    sound = {name: value for name, value in mapping.items() if name not in omitted} if omitted else mapping
    size = {name: len(strict_json.dumps({name: value}, default=str)) for name, value in sound.items()}
    while sum(size.values()) > MOST_CHARACTERS:
        largest = max(size, key=lambda name: size[name])
        size.pop(largest)
        omitted.append(largest)
    return ({name: value for name, value in sound.items() if name in size} if omitted else sound), omitted


def _is_sound(value: Any) -> bool:
    """Return whether all texts and numbers of a value can be stored, and it is not nested too deeply."""
    layer, level = [value], 0
    while layer:
        inner: list[Any] = []
        for item in layer:
            if isinstance(item, dict):
                inner += item.keys()
                inner += item.values()
            elif isinstance(item, list | tuple):
                inner += item
            elif isinstance(item, str):
                if len(item) > LONGEST_TEXT or not is_text(item):
                    return False
            elif isinstance(item, int | float) and not is_bounded(item):
                return False
        layer, level = inner, level + 1
        if level > DEEPEST:
            return False
    return True


def _gravest(flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
    """Return the gravest doubts, as many as can be kept, and one as grave as any of the others in their place."""
    sizes = [len(strict_json.dumps(flag.as_json(), ensure_ascii=False).encode()) + 2 for flag in flags]
    if sum(sizes) <= MOST_FLAG_BYTES:
        return flags
    room = MOST_FLAG_BYTES - _CUT_FLAG_BYTES
    gravity = {name: place for place, name in enumerate(_GRAVEST_FIRST)}
    places = set()
    for place in sorted(range(len(flags)), key=lambda place: gravity[flags[place].severity]):
        if sizes[place] <= room:
            room -= sizes[place]
            places.add(place)
    others = [flag for place, flag in enumerate(flags) if place not in places]
    metrics = sorted({name for flag in others for name in flag.metrics})
    bears_on_all = len(metrics) > _MOST_METRICS or not all(flag.metrics for flag in others)
    message = Message(_DOUBTS, {"count": len(others), "names": _listed(flag.name for flag in others)})
    severity = min((flag.severity for flag in others), key=gravity.__getitem__)
    cut = Flag("flags-cut", severity, message, () if bears_on_all else tuple(metrics))
    return (*(flag for place, flag in enumerate(flags) if place in places), cut)


def _flag(name: str, metrics: Sequence[str]) -> Flag:
    values = {"metrics": _listed(metrics)} | ({"most": MOST_SAMPLES} if name == "too-many" else {})
    severity = "info" if name == "below-digits" else "warning"
    return Flag(name, severity, Message(_WORDS[name], values))


def _listed(names: Iterable[str]) -> str:
    each = sorted({_text(name)[:LONGEST_NAME] for name in names})
    return ", ".join(each[:_SHOWN]) + (", …" if len(each) > _SHOWN else "")


def _text(text: str) -> str:
    return text if is_text(text) else text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
