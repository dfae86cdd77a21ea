"""Figures of tables whose rows are sizes: samples, and series over the size in place of time."""

from collections.abc import Mapping

from apps.bench.toolkit import BY_SIZE, SampleSeries, SampleValue


def figures(samples: Mapping[str, float | None]) -> tuple[SampleValue, ...]:
    """Return the samples that there are."""
    return tuple(SampleValue(metric, float(value)) for metric, value in samples.items() if value is not None)


def by_size(metric: str, unit: str, values: Mapping[int, float], stream: str = "") -> tuple[SampleSeries, ...]:
    """Return the series of {size (B): value}; `stream` tells it from others of the metric."""
    if not values:
        return ()
    sizes = tuple(sorted(values))
    name = f"{BY_SIZE}: {stream}" if stream else BY_SIZE
    return (SampleSeries(metric, name, unit, tuple(map(float, sizes)), tuple(values[size] for size in sizes)),)
