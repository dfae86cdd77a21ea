"""A record size at which the rate collapses, though smaller and larger ones have far more."""

from collections.abc import Iterator, Mapping

from apps.bench.rules import shapes
from apps.bench.rules.base import DIAGNOSIS, Evidence, FindingDraft, Trend
from apps.bench.rules.shapes import way_of
from apps.bench.rules.storage.common import METRICS, TOOLS, name_of, rate, subject_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

# A rate below this share of those on both sides of it has collapsed.
COLLAPSED = 0.7


def collapses(evidence: Evidence, rule: str, version: int, cached: frozenset[int]) -> Iterator[FindingDraft]:
    """Return, of each curve over record sizes, the size at which it surely has far less than at its neighbours."""
    for curve in shapes.curves(evidence, factor=shapes.RECORD):
        if curve.metric not in METRICS or curve.tool not in TOOLS or cached & {*curve.trials}:
            continue
        size = None if curve.error is None or curve.is_scattered or curve.held_values else _lowest(curve)
        if size is not None:
            yield _draft(curve, size, rule, version)


def _lowest(curve: shapes.Curve) -> float | None:
    """Return the size between others whose rate lies by more than chance below both of its neighbours'."""
    sizes, means = sorted(curve.means), curve.means
    inner = [
        (size, min(means[before], means[after]))
        for before, size, after in zip(sizes, sizes[1:], sizes[2:], strict=False)
    ]
    far_below = [
        size for size, beside in inner if means[size] < COLLAPSED * beside and beside - means[size] >= curve.chance
    ]
    return min(far_below, key=lambda size: means[size], default=None)


def _draft(curve: shapes.Curve, size: float, rule: str, version: int) -> FindingDraft:
    means: Mapping[float, float] = curve.means
    smaller, larger = max(x for x in means if x < size), min(x for x in means if x > size)
    trend = Trend(
        curve.tool, curve.metric, curve.factor, shapes.UNCLEAR, file_system=curve.file_system, fixed=curve.fixed,
        apart=curve.apart,
    )  # fmt: skip
    params = {
        "name": name_of(trend),
        "way": way_of(trend),
        "size": format_quantity(int(size), "B"),
        "rate": rate(means[size]),
        "share": percent(1 - means[size] / min(means[smaller], means[larger])),
        "smaller": format_quantity(int(smaller), "B"),
        "before": rate(means[smaller]),
        "larger": format_quantity(int(larger), "B"),
        "after": rate(means[larger]),
    }
    title = _(
        "Records of %(size)s collapse on %(name)s (%(way)s): %(rate)s, %(share)s %% less than smaller and larger ones"
    )
    text = _("Records of %(smaller)s give %(before)s, and records of %(larger)s give %(after)s.")
    return FindingDraft(
        rule=rule,
        version=version,
        kind=DIAGNOSIS,
        subject=subject_of(trend),
        title=Message(title, params),
        why=(Message(text, params),),
        value=means[size],
        unit="B/s",
        formula=f"X({params['size']}) < {COLLAPSED} · min(X({params['smaller']}), X({params['larger']}))",
        evidence=tuple(sorted({trial for x in (smaller, size, larger) for trial in curve.cells[x]})),
        confidence=0.75,
        applies_when=Message(_("The application chooses how much it reads or writes with each call.")),
        limits=(Message(_("Why it collapses, the rates alone do not tell.")),),
        missing=(Message(_("Sizes near it: whether it is this one alone, or a range of them.")),),
    )
