"""What became of offered loads: the table of loss and jitter over the load, and what it shows, its knee among it."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from apps.bench.units.formats import FRACTION
from apps.core import messages
from apps.reports.claims import loads
from apps.reports.columns import scale_of
from apps.reports.document import Block, Column, Paragraph, Table, Value, spaced
from apps.results.loss import LossSweep


def blocks_of(key: str, title: str, sweeps: Sequence[LossSweep]) -> list[Block]:
    """Return what the sweeps of an experiment show, and the table that says so; nothing without any."""
    if not sweeps:
        return []
    table = table_of(key, title, sweeps)
    statements = [
        Paragraph(spaced(sentences), key=f"loads-statement-{key}-{place}", style="statement")
        for place, sweep in enumerate(loads.sweeps_in(table), start=1)
        if (sentences := loads.tell(table, sweep))
    ]
    return [*statements, table]


def _beside(sweeps: Sequence[LossSweep]) -> list[str]:
    """Return what more came through the same ways, whoever measured it: one flow is not all that a path carries.

    Figures of other campaigns, which no row of the table holds: they stand in its note.
    """
    texts = {messages.render(sweep.passed.message): sweep.label for sweep in sweeps if sweep.passed}
    return [f"{label}: {text}" if label and len(sweeps) > 1 else text for text, label in texts.items()]


def table_of(key: str, title: str, sweeps: Sequence[LossSweep]) -> Table:
    """Return the loads of each sweep with their means: what was offered, what was lost, the jitter."""
    points = [(sweep.label, point) for sweep in sweeps for point in sweep.curve.points]
    rate = scale_of([point.offered for _label, point in points], "bit/s")
    share = scale_of([point.loss for _label, point in points], FRACTION)
    jitter = scale_of([point.jitter for _label, point in points], "s")
    columns = (
        Column(_("Sweep")),
        Column(_("Offered load"), rate.unit, "number"),
        Column(_("Datagram loss"), share.unit, "number"),
        Column(_("Held by an end")),
        Column(_("Jitter"), jitter.unit, "number"),
        Column(_("n"), kind="number"),
    )
    rows: list[tuple[Value, ...]] = [
        (
            label,
            rate.of(point.offered),
            share.of(point.loss),
            _("yes") if point.is_held else "",
            jitter.of(point.jitter),
            len(point.runs),
        )
        for label, point in points
    ]
    means = _("Means of each load; of one whose ends were seen to drop or lag, nothing is told of the path.")
    note = " ".join([means, *_beside(sweeps)])
    name = _("%(name)s: what became of the loads") % {"name": title}
    behind = {str(loads.LOST): [[loss / share.size for loss in point.runs] for _label, point in points]}
    return Table(f"loads-{key}", name, columns, rows, note=note, figures=behind)
