"""The test that a sentence about several places carries: `apps.bench.curve` asked of a table's rows."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from apps.bench import curve
from apps.bench.curve import CurveForm, CurveReading, ProofTest, TestOutcome
from apps.bench.knee import NEAR
from apps.core import messages
from apps.reports.claims.topics import Place
from apps.reports.document import Value

_HIGHER = {"higher": True, "lower": False}
TESTED = ("test", "n", "p")


def of_line(places: Sequence[Place], better: str, *, plateau: bool = True) -> CurveReading:
    """Return what a line of places shows, in their order if they are numbers; without `plateau` none is sought."""
    if not is_numeric(places):
        return of_places(places, better)
    is_higher = _HIGHER.get(better) if plateau else None
    xs = [place.x or 0.0 for place in places]
    reading = curve.read_curve(xs, _groups(places), centres=_centres(places), higher_is_better=is_higher)
    # A share of each place itself, as of a line that grows: what goes up by more on its way does not fall.
    if reading.form is CurveForm.FALLS and any(b.y > (1 + NEAR) * a.y > 0 for a, b in pairwise(places)):
        return of_places(places, better)
    return reading


def of_places(places: Sequence[Place], better: str) -> CurveReading:
    """Return which of some places is the best, and which cannot be told from it."""
    return curve.read_places(_groups(places), centres=_centres(places), higher_is_better=_HIGHER.get(better))


def in_order(places: Sequence[Place]) -> list[Place]:
    """Return the places by their numbers on the axis, or as they are if they have none."""
    return sorted(places, key=lambda place: place.x or 0.0) if is_numeric(places) else list(places)


def is_numeric(places: Sequence[Place]) -> bool:
    """Return whether every place has a number of its own on the axis."""
    numbers = {place.x for place in places}
    return None not in numbers and len(numbers) == len(places)


def says_of(proof: TestOutcome) -> dict[str, Value]:
    """Return what a sentence says of its test."""
    return {"test": proof.test.value, "n": proof.n, "p": None if proof.p is None else float(f"{proof.p:.2g}")}


def text_of(says: Mapping[str, Value]) -> str:
    """Return the words for a test in the present language, "" where a sentence carries none."""
    n, p = says.get("n"), says.get("p")
    if not isinstance(n, int):
        return ""
    proof = TestOutcome(ProofTest(says.get("test")), n, float(p) if isinstance(p, int | float) else None)
    return messages.render(proof.message)


def _groups(places: Sequence[Place]) -> list[Sequence[float]]:
    return [place.figures or (place.y,) for place in places]


def _centres(places: Sequence[Place]) -> list[float]:
    return [place.y for place in places]
