"""Readings to be judged."""

from apps.bench.toolkit import Output, Reading, SampleValue

GIB = 1024**3


def reading(*metrics, granted=None, flags=(), series=(), **observed):
    """Return a reading with figures of the metrics and what was observed."""
    samples = tuple(SampleValue(metric, 100e6) for metric in metrics)
    return Reading(
        samples=samples, granted=granted or {}, observed=observed, flags=tuple(flags), series=tuple(series)
    )


def output(stage="measure", node="one", stdout=b"", ram=None, **changes):
    """Return an output of a node of so much memory (B)."""
    facts = {"memory": {"ram_bytes": ram}} if ram else {}
    return Output("client", stage, node, (), stdout, b"", 0, facts=facts, **changes)


def told(flags):
    """Return {name: severity} of flags."""
    return {flag.name: flag.severity for flag in flags}
