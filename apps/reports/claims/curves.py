"""What a line of places shows: told of a table's rows, and asked of them again."""

from collections.abc import Callable, Mapping, Sequence

from apps.bench.curve import CurveForm, CurveReading
from apps.bench.knee import NEAR
from apps.bench.statistics import still_rises
from apps.reports.claims import readings, words
from apps.reports.claims.topics import Place, quantity
from apps.reports.document import Claim, Topic, Value

Says = Mapping[str, Value]
# So many places at the end are alike where a line may have come to its end before them.
LEAST_ALIKE = 3
# So many places are named that cannot be told from the best.
MOST_RIVALS = 4


def tell(topic: Topic, places: Sequence[Place]) -> list[Claim]:
    """Return what the places of a topic show, in one claim; none of no places, or where two have one name."""
    if not places or len({place.text for place in places}) < len(places):
        return []
    if len(places) == 1:
        return [Claim(words.VALUE, topic, {"value": quantity(places[0].y, topic.unit)})]
    ordered = readings.in_order(places)
    reading = _of_line(ordered, topic)
    relation = _relation(topic, reading)
    return [Claim(relation, topic, _says(relation, topic, ordered, reading))]


def holds(claim: Claim, places: Sequence[Place]) -> bool:
    """Return whether a claim about a line is true of its places, to the last digit that it prints."""
    topic, relation = claim.topic, claim.relation
    if len({place.text for place in places}) < len(places) or not places:
        return False
    if relation == words.VALUE:
        return len(places) == 1 and claim.says.get("value") == quantity(places[0].y, topic.unit)
    if len(places) < 2:
        return False
    ordered = readings.in_order(places)
    reading = _read_for(relation, topic, ordered)
    if relation != _relation(topic, reading) or not _are_extremes(claim, ordered):
        return False
    figures = dict(_says(relation, topic, ordered, reading))
    if (words.RATIO in claim.says) != (words.RATIO in figures):
        return False
    if words.ALIKE_AT not in claim.says:
        # Earlier sentences, which are true as well, do not say where they may have ended.
        figures.pop(words.ALIKE_AT, None)
    elif words.ALIKE_AT not in figures:
        return False
    # Of places that are equally high either may be named.
    free = {name for name in ("high_at", "low_at") if name in figures}
    return all(claim.says.get(name) == value for name, value in figures.items() if name not in free)


def _relation(topic: Topic, reading: CurveReading) -> str:
    """Return what is said of a reading."""
    by_form = {
        CurveForm.FLAT: words.FLAT if topic.axis else words.SAME,
        CurveForm.LEVELS_OFF: words.LEVELS_OFF,
        CurveForm.GROWS: words.GROWS,
        CurveForm.FALLS: words.FALLS,
        CurveForm.BEST: _best(topic, is_one=not reading.rivals),
        CurveForm.UNTOLD: words.MEASURED,
    }
    return by_form[reading.form]


def _best(topic: Topic, *, is_one: bool) -> str:
    if topic.better == "lower":
        return words.LOWEST_AT if is_one else words.LOWEST_AMONG
    return words.HIGHEST_AT if is_one else words.HIGHEST_AMONG


def _read_for(relation: str, topic: Topic, places: Sequence[Place]) -> CurveReading:
    """Return the reading that a relation is asked of: of what is true of a line, only one is said of it."""
    if relation in (words.HIGHEST_AT, words.HIGHEST_AMONG, words.LOWEST_AT, words.LOWEST_AMONG):
        return readings.of_places(places, topic.better)
    return _of_line(places, topic, plateau=relation not in (words.GROWS, words.FALLS))


def _of_line(places: Sequence[Place], topic: Topic, *, plateau: bool = True) -> CurveReading:
    """Return what a line shows; it neither grows nor falls from a figure to one that is printed the same."""
    reading = readings.of_line(places, topic.better, plateau=plateau)
    ends = {quantity(place.y, topic.unit) for place in (places[0], places[-1])}
    if reading.form in (CurveForm.GROWS, CurveForm.FALLS) and len(ends) == 1:
        return readings.of_places(places, topic.better)
    return reading


def _are_extremes(claim: Claim, places: Sequence[Place]) -> bool:
    """Return whether the places that are named as the extremes are that high and that low."""
    if claim.relation not in _WITH_EXTREMES:
        return True
    heights = {place.text: place.y for place in places}
    high, low = (heights.get(str(claim.says.get(name))) for name in ("high_at", "low_at"))
    return high == max(heights.values()) and low == min(heights.values())


def _says(relation: str, topic: Topic, places: Sequence[Place], reading: CurveReading) -> dict[str, Value]:
    return {**_SAYS[relation](topic, places, reading), **readings.says_of(reading.proof)}


def _extremes(topic: Topic, places: Sequence[Place], reading: CurveReading) -> Says:
    low, high = min(places, key=lambda place: place.y), max(places, key=lambda place: place.y)
    return {
        "low": quantity(low.y, topic.unit),
        "low_at": low.text,
        "high": quantity(high.y, topic.unit),
        "high_at": high.text,
        **_ratio(low, high),
    }


def _among(topic: Topic, places: Sequence[Place], reading: CurveReading) -> Says:
    rivals = ", ".join(places[place].text for place in reading.rivals[:MOST_RIVALS])
    more = " …" if len(reading.rivals) > MOST_RIVALS else ""
    return {**_extremes(topic, places, reading), "rivals": rivals + more}


def _measured(topic: Topic, places: Sequence[Place], reading: CurveReading) -> Says:
    return {name: value for name, value in _extremes(topic, places, reading).items() if name != words.RATIO}


def _range(topic: Topic, places: Sequence[Place], reading: CurveReading) -> Says:
    extremes = _extremes(topic, places, reading)
    return {name: extremes[name] for name in ("low", "high")}


def _ends(topic: Topic, places: Sequence[Place], reading: CurveReading) -> Says:
    first, last = places[0], places[-1]
    return {
        "first": quantity(first.y, topic.unit),
        "first_at": first.text,
        "last": quantity(last.y, topic.unit),
        "last_at": last.text,
        **_ratio(*sorted((first, last), key=lambda place: place.y)),
        **_alike(places),
    }


def _alike(places: Sequence[Place]) -> Says:
    """Return from where on all has about what the last place has, if several before it do and none surely rises."""
    last = places[-1].y
    start = len(places) - 1
    while start and abs(places[start - 1].y - last) <= NEAR * abs(last):
        start -= 1
    tail = [place.figures or (place.y,) for place in places[start:]]
    return {words.ALIKE_AT: places[start].text} if len(tail) >= LEAST_ALIKE and not still_rises(tail) else {}


def _plateau(topic: Topic, places: Sequence[Place], reading: CurveReading) -> Says:
    return {
        "plateau": quantity(reading.plateau or 0.0, topic.unit),
        "at": "" if reading.start is None else places[reading.start].text,
    }


def _ratio(low: Place, high: Place) -> Says:
    """Return how many times the lower figure the higher one is; nothing where that is zero."""
    return {words.RATIO: f"{high.y / low.y:.3g}"} if low.y > 0 else {}


_SAYS: Mapping[str, Callable[[Topic, Sequence[Place], CurveReading], Says]] = {
    words.SAME: _range,
    words.FLAT: _range,
    words.LEVELS_OFF: _plateau,
    words.GROWS: _ends,
    words.FALLS: _ends,
    words.HIGHEST_AT: _extremes,
    words.HIGHEST_AMONG: _among,
    words.LOWEST_AT: _extremes,
    words.LOWEST_AMONG: _among,
    words.MEASURED: _measured,
}
_WITH_EXTREMES = frozenset(name for name, found in _SAYS.items() if found in (_extremes, _among, _measured))
RELATIONS = (words.VALUE, *_SAYS)
