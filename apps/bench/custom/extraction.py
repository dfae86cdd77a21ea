"""Find the figures of a definition's metrics in what its program printed."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from apps.bench import units
from apps.bench.custom.definition import JSON_PATH, Definition, MetricRule
from apps.bench.custom.paths import JsonPath, read_document
from apps.bench.custom.patterns import Pattern, PatternMatch
from apps.bench.custom.units import read_unit
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output, SampleValue, ends_of

_TAKE: dict[str, Callable[[Sequence[float]], float]] = {
    "last": lambda values: values[-1],
    "first": lambda values: values[0],
    "minimum": min,
    "maximum": max,
    "mean": statistics.fmean,
    "sum": math.fsum,
}


def read_samples(definition: Definition, output: Output, text: str) -> tuple[SampleValue, ...]:
    """Return the figures in base units; ToolFailure says which one is missing or is no number."""
    document = read_document(text) if any(rule.find == JSON_PATH for rule in definition.metrics) else None
    encoded = text.encode("utf-8", "replace")
    samples = []
    for rule in definition.metrics:
        if rule.find == JSON_PATH:
            candidates = (_as_match(value) for value in JsonPath(rule.where).values(document))
            value = _figure(rule, output, [match for match in candidates if match])
        else:
            value = _figure(rule, output, Pattern(rule.where).values(encoded))
        if value is not None:
            samples.append(SampleValue(rule.name, value))
        elif not rule.optional:
            raise failure("metric-missing", output, metric=rule.label)
    return tuple(samples)


def certain_in(definition: Definition, text: bytes) -> frozenset[str]:
    """Return the metrics that stand in what is left of a cut text: the first of its head, the last of its tail."""
    head, tail = ends_of(text)
    places = {"first": head, "last": tail}
    return frozenset(
        rule.name
        for rule in definition.metrics
        if rule.find != JSON_PATH and any(Pattern(rule.where).values(places.get(rule.take, b"")))
    )


def _figure(rule: MetricRule, output: Output, matches: Iterable[PatternMatch]) -> float | None:
    """Return the one figure of a metric in its base unit, None if nothing matches."""
    unit = read_unit(rule.unit)
    values = []
    for match in matches:
        factor = unit.factor if not match.unit else _factor_of(rule, output, match.unit, unit.base)
        try:
            value = float(match.value) * factor
        except (ValueError, OverflowError):
            value = math.nan
        if not math.isfinite(value):
            raise failure("not-a-number", output, metric=rule.label, said=match.value[:50])
        values.append(value)
    try:
        figure = _TAKE[rule.take](values) if values else None
    except OverflowError:
        figure = math.inf
    if figure is not None and not math.isfinite(figure):
        raise failure("not-a-number", output, metric=rule.label, said=str(figure))
    return figure


def _factor_of(rule: MetricRule, output: Output, printed: str, base: str) -> float:
    try:
        unit = read_unit(printed)
    except units.UnitError:
        unit = None
    if unit is None or unit.base != base:
        raise failure("wrong-unit", output, metric=rule.label, unit=printed[:20])
    return unit.factor


def _as_match(value: Any) -> PatternMatch | None:
    """Return a JSON value as the number it is or writes; nothing for null, so that optional figures may be it."""
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return PatternMatch(_digits(value))
    return PatternMatch(str(value)[:50] if isinstance(value, str) else type(value).__name__)


def _digits(value: float) -> str:
    try:
        return repr(float(value))
    except OverflowError:
        return "inf"
