"""Traffic that took different ways: results of one way say little of another."""

from apps.bench.network import routes
from apps.bench.rules.base import DOUBT, Evidence, FindingDraft, Point, Proposal
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "path-route", 1


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return that the route changed between measurements; None if it did not, or was seen less than twice."""
    sightings = sorted(
        (
            (point.at or 0.0, place, route, point)
            for place, point in enumerate(evidence.points)
            for route in _of(point)
        ),
        key=lambda item: item[:2],
    )
    variants = routes.variants([route for _at, _place, route, _point in sightings])
    if len(variants) < 2:
        return None
    first, second = variants[0], variants[1]
    change = routes.compare(first.route, second.route)
    groups = [[sightings[place][3] for place in variant.sightings] for variant in variants]
    trials = sorted({trial for group in groups for point in group for v in point.metrics.values() for trial in v})
    reasons = [change.message, *(_rate_of_way(place, group) for place, group in enumerate(groups, start=1))]
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        title=Message(_("The route changed: %(count)s ways were seen"), {"count": len(variants)}),
        why=tuple(message for message in reasons if message),
        value=float(len(variants)),
        unit="count",
        formula="",
        evidence=tuple(trials),
        confidence=0.85,
        applies_when=Message(_("Comparisons between measurements before and after the change.")),
        limits=(Message(_("Routers that spread traffic over several ways are told apart as far as they answer.")),),
        source="RFC 2330, section 7",
        missing=(Message(_("The results of each way by itself: repeat the campaign while the route stays.")),),
        proposals=(Proposal("traceroute"),),
    )


def _of(point: Point) -> list[routes.Route]:
    """Return the routes that a point's last trial saw: its own, and those just before and after it."""
    context = point.observed.get("context")
    around = context if isinstance(context, dict) else {}
    snapshots = [
        point.observed.get("route"),
        *(look.get("route") for look in around.values() if isinstance(look, dict)),
    ]
    return [route for data in snapshots if (route := routes.from_json(data))]


def _rate_of_way(place: int, points: list[Point]) -> Message | None:
    rates = [value for point in points for value in point.values("goodput")]
    if not rates:
        return None
    text = _("Way %(number)s: %(rate)s on average (n = %(n)s).")
    mean = format_quantity(sum(rates) / len(rates), "bit/s")
    return Message(text, {"number": place, "rate": mean, "n": len(rates)})
