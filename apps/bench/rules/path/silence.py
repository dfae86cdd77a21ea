"""Runs in which nothing arrived: no mean tells of them, and what other settings had is no answer to why."""

from collections.abc import Sequence

from apps.bench.rules.base import Alternative, Evidence, FindingDraft, Point, Proposal
from apps.bench.rules.silences import draft_of, silence_of
from apps.bench.text import Message, _

RULE, VERSION = "path-silence", 2


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return in how many runs of the way that is asked nothing arrived; None where something did in each."""
    silence = silence_of([point for point in evidence.points if evidence.is_of_way(point)], ("goodput",))
    if silence is None:
        return None
    params = silence.params
    return draft_of(
        silence,
        (RULE, VERSION),
        Message(_("In %(count)s of %(n)s runs nothing arrived: why is undecided"), params),
        (
            Message(
                _("They are of %(settings)s of %(of)s settings; with %(whole)s of these nothing ever arrived."),
                params,
            ),
            Message(_("They count as zero in every mean: what a setting has when it works is more.")),
        ),
        Message(_("This path and direction, as measured.")),
        (
            *_filters(silence.points),
            Alternative(
                Message(_("The path, or one of its ends, was away, or a firewall let the data of these runs go.")),
                Message(
                    _("Run ping beside a measurement of ten minutes: its lost answers tell when the path is away.")
                ),
                Proposal("ping", {"count": "600", "interval": "1 s"}),
            ),
        ),
        (Message(_("What the kernels of both ends say of the connection: window, loss, and what it waited for.")),),
    )


def _filters(points: Sequence[Point]) -> tuple[Alternative, ...]:
    """Return a filter of datagrams as the likeliest cause where not one of any load arrived."""
    loads = [point for point in points if point.values("loss")]
    if not loads or any(any(point.values("goodput")) for point in loads):
        return ()
    title = _("A firewall or a filter on the way lets no UDP through, or nothing receives at its port.")
    test = _(
        "Allow UDP to the port at both ends and on the way, and offer the same load again: less changes nothing."
    )
    return (Alternative(Message(title), Message(test)),)
