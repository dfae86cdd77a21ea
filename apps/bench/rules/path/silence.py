"""Runs in which nothing arrived: no mean tells of them, and what other settings had is no answer to why."""

from apps.bench.rules.base import BELOW, DOUBT, Alternative, Evidence, FindingDraft, Point, Proposal
from apps.bench.text import Message, _

RULE, VERSION = "path-silence", 2


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return in how many runs of the way that is asked nothing arrived; None where something did in each."""
    points = [
        point
        for point in evidence.points
        if point.values("goodput") and point.statistic != BELOW and evidence.is_of_way(point)
    ]
    empty = tuple(sorted(trial for point in points for trial in _empty_of(point)))
    if not empty:
        return None
    settings = [point for point in points if _empty_of(point)]
    params = {
        "count": len(empty),
        "n": sum(len(point.values("goodput")) for point in points),
        "settings": len(settings),
        "of": len(points),
        "whole": sum(1 for point in settings if not any(point.values("goodput"))),
    }
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        title=Message(_("In %(count)s of %(n)s runs nothing arrived: why is undecided"), params),
        why=(
            Message(
                _("They are of %(settings)s of %(of)s settings; with %(whole)s of these nothing ever arrived."),
                params,
            ),
            Message(_("They count as zero in every mean: what a setting has when it works is more.")),
        ),
        value=float(len(empty)),
        unit="count",
        formula=f"n(X = 0) / n = {len(empty)} / {params['n']}",
        evidence=empty,
        confidence=0.9,
        applies_when=Message(_("This path and direction, as measured.")),
        alternatives=(
            *_filters(points),
            Alternative(
                Message(_("The path, or one of its ends, was away, or a firewall let the data of these runs go.")),
                Message(
                    _("Run ping beside a measurement of ten minutes: its lost answers tell when the path is away.")
                ),
                Proposal("ping", {"count": "600", "interval": "1 s"}),
            ),
        ),
        missing=(
            Message(_("What the kernels of both ends say of the connection: window, loss, and what it waited for.")),
        ),
    )


def _filters(points: list[Point]) -> tuple[Alternative, ...]:
    """Return a filter of datagrams as the likeliest cause where not one of any load arrived."""
    loads = [point for point in points if point.values("loss")]
    if not loads or any(any(point.values("goodput")) for point in loads):
        return ()
    title = _("A firewall or a filter on the way lets no UDP through, or nothing receives at its port.")
    test = _(
        "Allow UDP to the port at both ends and on the way, and offer the same load again: less changes nothing."
    )
    return (Alternative(Message(title), Message(test)),)


def _empty_of(point: Point) -> list[int]:
    """Return the trials of a point in which nothing arrived."""
    return [trial for trial, value in point.metrics.get("goodput", {}).items() if value == 0]
