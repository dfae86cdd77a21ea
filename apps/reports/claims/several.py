"""What several lines come to, what the highest figure is of the ceiling, and what a table counts: told and asked."""

from collections.abc import Callable, Mapping, Sequence
from math import isclose

from apps.bench import comparison
from apps.bench.comparison import Statistic
from apps.bench.curve import CurveForm
from apps.bench.statistics import Mean
from apps.bench.units import percent
from apps.reports.claims import readings, words
from apps.reports.claims.topics import Place, quantity, text_of
from apps.reports.document import Claim, Topic, Value

Says = Mapping[str, Value]
# The inventory's figure is called the path's ceiling where that much of it was carried, and not more than it can be.
REACHED, ABOVE = 0.9, 1.02
# A cell that is this near to a mean of its figures (a share) is that mean.
SAME = 1e-9


def best(topic: Topic, places: Sequence[Place], label: int, with_title: str = "") -> list[Claim]:
    """Return which place of all lines is the best; `label` is the column that tells the lines apart."""
    if len(places) < 2 or len({(place.text, text_of(place.row[label])) for place in places}) < len(places):
        return []
    reading = readings.of_places(places, topic.better)
    top = places[reading.best]
    says: dict[str, Value] = {
        "value": quantity(top.y, topic.unit),
        "label": f"{with_title} {text_of(top.row[label])}".strip(),
        "at": top.text,
        "by": label,
        "title": with_title,
        "others": len(places) - 1,
        "rivals": len(reading.rivals),
    }
    relation = words.BEST if reading.form is CurveForm.BEST and not reading.rivals else words.TOP
    return [Claim(relation, topic, {**says, **readings.says_of(reading.proof)})]


def share(topic: Topic, places: Sequence[Place], ceiling: float) -> list[Claim]:
    """Return how much of the ceiling (in the base unit) the highest figure is, and whose word the ceiling is.

    Nothing where it is higher, but its repetitions do not tell that it really is.
    """
    top = max(places, key=lambda place: place.y, default=None)
    if top is None or top.y <= 0 or ceiling <= 0:
        return []
    highest, relation = top.y, _whose(top.y / ceiling)
    if relation == words.ABOVE and not _is_above(top, ceiling):
        return []
    says: dict[str, Value] = {"ceiling": quantity(ceiling, topic.unit), "drawn": ceiling}
    # Of a ceiling nothing is more than all: what is above it surely tells that it is none.
    says |= (
        {"value": quantity(highest, topic.unit)}
        if relation == words.ABOVE
        else {words.SHARE: percent(highest / ceiling)}
    )
    return [Claim(relation, topic, says)]


def pairs(topic: Topic, places: Sequence[Place], share_of: int, shares: Mapping[str, float]) -> list[Claim]:
    """Return which pair of sites comes nearest to its ceiling, or is the best where no ceiling is known.

    `share_of` is the column of shares (in per cent), `shares` those of each place that has one.
    """
    if not places:
        return []
    if not shares:
        top = max(places, key=lambda place: place.y)
        return [Claim(words.BEST_PAIR, topic, {"pair": top.text, "value": quantity(top.y, topic.unit)})]
    near, far = max(shares, key=lambda name: shares[name]), min(shares, key=lambda name: shares[name])
    maximum, minimum = percent(shares[near] / 100), percent(shares[far] / 100)
    says: dict[str, Value] = {"near": near, "most": maximum, "far": far, "least": minimum, "column": share_of}
    return [Claim(words.NEAREST, topic, says)]


def shares_of(places: Sequence[Place], column: int) -> dict[str, float]:
    """Return {place: share in per cent} of those whose row has one."""
    cells = {place.text: place.row[column] for place in places if column < len(place.row)}
    return {name: float(value) for name, value in cells.items() if isinstance(value, int | float)}


def holds(claim: Claim, places: Sequence[Place]) -> bool:
    """Return whether a claim about several lines is true of their places."""
    return bool(places) and _CHECKS[claim.relation](claim, places)


def _whose(part: float) -> str:
    return words.INVENTORY if part < REACHED else words.CEILING if part <= ABOVE else words.ABOVE


def _is_above(place: Place, ceiling: float) -> bool:
    """Return whether a place is surely above the ceiling, by its mean's interval or by figures that are all equal."""
    centres = (comparison.centre_of(place.figures, Statistic.MEAN, kind) for kind in Mean if place.figures)
    centre = next((centre for centre in centres if isclose(centre.value, place.y, rel_tol=SAME)), None)
    if centre is None or centre.method is None:
        return False
    # Equal figures have no interval, and are all above it or none.
    return (centre.value if centre.low is None else centre.low) > ABOVE * ceiling


def _holds_best(claim: Claim, places: Sequence[Place]) -> bool:
    says, column = claim.says, claim.says.get("by")
    if not isinstance(column, int):
        return False
    title = str(says.get("title", ""))
    matching = [
        place
        for place in places
        if place.text == says.get("at") and f"{title} {text_of(place.row[column])}".strip() == says.get("label")
    ]
    claims = best(claim.topic, places, column, title)
    if len(matching) != 1 or not claims or claims[0].relation != claim.relation:
        return False
    # Of places that are equally high either may be named.
    is_best = matching[0].y == places[readings.of_places(places, claim.topic.better).best].y
    free = ("label", "at")
    return is_best and all(says.get(name) == value for name, value in claims[0].says.items() if name not in free)


def _holds_share(claim: Claim, places: Sequence[Place]) -> bool:
    ceiling, highest = claim.says.get("drawn"), max(place.y for place in places)
    if not isinstance(ceiling, int | float) or ceiling <= 0 or highest <= 0:
        return False
    claims = share(claim.topic, places, float(ceiling))
    return bool(claims) and claims[0].relation == claim.relation and dict(claims[0].says) == dict(claim.says)


def _holds_pairs(claim: Claim, places: Sequence[Place]) -> bool:
    column = claim.says.get("column")
    shares = shares_of(places, column) if isinstance(column, int) else {}
    claims = pairs(claim.topic, places, column if isinstance(column, int) else 0, shares)
    return bool(claims) and claims[0].relation == claim.relation and dict(claims[0].says) == dict(claim.says)


_CHECKS: Mapping[str, Callable[[Claim, Sequence[Place]], bool]] = {
    words.BEST: _holds_best,
    words.TOP: _holds_best,
    words.CEILING: _holds_share,
    words.INVENTORY: _holds_share,
    words.ABOVE: _holds_share,
    words.NEAREST: _holds_pairs,
    words.BEST_PAIR: _holds_pairs,
}
RELATIONS = tuple(_CHECKS)
