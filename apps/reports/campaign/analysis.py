"""What was wrong and why, what to change exactly, and what that gains."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from apps.core import messages
from apps.reports.campaign.conclusions import (
    Conclusion,
    changes_of,
    established_of,
    evidence_of,
    kept_of,
    problems_of,
    unfinished_of,
)
from apps.reports.campaign.material import Material
from apps.reports.claims import counted
from apps.reports.columns import interval_columns, quantity, scale_of
from apps.reports.document import Block, Column, Items, Link, Listing, Paragraph, Part, Section, Table, Value
from apps.tuning.models import Finding, Verification

# The tables of what was concluded, which sentences count and quote.
PROBLEMS, CHANGES = "problems", "recommendations"
# Its columns: the number of a change, its state, and its gains.
STATE, PREDICTED, REALISED = 2, 4, 5


def problems(made: Material) -> Section:
    """Return the problem analysis: what holds rates back, then what was established and is no fault."""
    found, established = problems_of(made), established_of(made)
    parts = [_problem(made, item) for item in found]
    if established:
        title = _("What was established, and is no fault")
        parts.append(Section("established", title, (), tuple(_problem(made, item) for item in established)))
    blocks: list[Block] = [*unfinished_of(made)]
    if found:
        blocks.append(_problem_table(found))
    elif not made.unfinished:
        blocks.append(Paragraph((_("Nothing was found that holds the measured rates back."),), key="problems"))
    return Section("problems", _("Problem analysis"), tuple(blocks), tuple(parts))


def findings(made: Material) -> Section:
    """Return what to change exactly, what may stay, and what came of changes that were measured."""
    changes, kept = changes_of(made), kept_of(made)
    blocks: list[Block] = []
    if not changes and made.unfinished:
        blocks.append(Paragraph((_("Whether a change is to be recommended is not known yet."),), style="warning"))
    elif not changes:
        blocks.append(Paragraph((_("No change is recommended."),), key="findings"))
    else:
        blocks.append(_table(changes))
    if kept:
        blocks.append(Paragraph((_("What needs no change:"),)))
        blocks.append(Items(tuple((item.link,) for item in kept)))
    parts = tuple(_change(made, item, number) for number, item in enumerate(changes, start=1))
    return Section("findings", _("Findings and what to change"), tuple(blocks), parts)


def gain_of(finding: Finding, number: int) -> tuple[Part, ...]:
    """Return what the change of a number in the table of changes gained, or is to gain, as that table has it."""
    latest = finding.latest
    gain, column = (latest.gain, REALISED) if latest and latest.gain else (finding.predicted_gain, PREDICTED)
    if not gain:
        return ()
    text = _("realised gain ×%(gain)s") if column == REALISED else _("predicted gain ×%(gain)s")
    said = " – " + text % {"gain": f"{gain:.3g}"}
    return (counted.quote(said, CHANGES, column, str(number), f"{gain:.3g}"),)


def _problem(made: Material, item: Conclusion) -> Section:
    record = item.first.details
    blocks = [*_reasons(record), *_formula(record), *_others(record), *evidence_of(made, item)]
    return Section(f"problem-{item.key}", item.title, tuple(blocks))


def _change(made: Material, item: Conclusion, number: int) -> Section:
    finding = item.first
    record = finding.details
    blocks: list[Block] = [*_reasons(record), *_formula(record)]
    if finding.change:
        blocks.append(Listing(finding.change, _("To change")))
    if finding.undo:
        blocks.append(Listing(finding.undo, _("To take it back")))
    blocks += [Paragraph((text,)) for text in _outcomes(finding, number)]
    for title, lines in ((_("Limits"), record.get("limits")), (_("Side effects"), record.get("side_effects"))):
        if lines:
            blocks += [Paragraph((f"{title}:",)), _list(lines)]
    blocks += [*_others(record), *evidence_of(made, item)]
    return Section(f"finding-{item.key}", item.title, tuple(blocks))


def _reasons(record: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    if record.get("why"):
        blocks.append(_list(record["why"]))
    if record.get("against"):
        blocks += [Paragraph((_("What speaks against it:"),)), _list(record["against"])]
    return blocks


def _formula(record: Mapping[str, Any]) -> list[Block]:
    return [Listing(record["formula"])] if record.get("formula") else []


def _others(record: Mapping[str, Any]) -> list[Block]:
    """Return other explanations and what is still unmeasured."""
    blocks: list[Block] = []
    if record.get("alternatives"):
        told = [
            f"{messages.render(item['title'])} {messages.render(item['test'])}" for item in record["alternatives"]
        ]
        blocks += [
            Paragraph((_("Other explanations, the likeliest first:"),)),
            Items(tuple((text,) for text in told), ordered=True),
        ]
    if record.get("missing"):
        blocks += [Paragraph((_("Still unmeasured:"),)), _list(record["missing"])]
    return blocks


def _list(lines: Iterable[Mapping[str, Any]]) -> Items:
    return Items(tuple((messages.render(line),) for line in lines))


def _problem_table(found: Sequence[Conclusion]) -> Table:
    columns = Column(_("No."), kind="number"), Column(_("Problem")), Column(_("Confidence"))
    rows: list[tuple[Value | Link, ...]] = []
    for number, item in enumerate(found, start=1):
        label = item.first.details.get("confidence_label", "")
        rows.append((number, item.link, _(label) if label else ""))
    return Table(PROBLEMS, _("Problems"), columns, rows)


def _table(changes: Sequence[Conclusion]) -> Table:
    columns = (
        Column(_("No."), kind="number"),
        Column(_("Finding")),
        Column(_("State")),
        Column(_("Confidence")),
        Column(_("Predicted gain (ratio)"), kind="number"),
        Column(_("Realised gain (ratio)"), kind="number"),
        *interval_columns(_("Realised gain"), scale_of((), "1")),
    )
    rows: list[tuple[Value | Link, ...]] = []
    for number, item in enumerate(changes, start=1):
        finding = item.first
        latest = finding.latest
        label = finding.details.get("confidence_label", "")
        rows.append(
            (
                number,
                item.link,
                str(finding.get_state_display()),
                _(label) if label else "",
                finding.predicted_gain,
                latest.gain if latest else None,
                latest.gain_low if latest else None,
                latest.gain_high if latest else None,
            )
        )
    return Table(CHANGES, _("What to change and what it gains"), columns, rows)


def _outcomes(finding: Finding, number: int) -> list[Part]:
    """Return what is predicted and what measuring again gave; one that is under way in one line."""
    record = finding.details
    told: list[Part] = []
    if record.get("predicted"):
        unit = record.get("predicted_unit", "")
        words = {"predicted": quantity(record["predicted"], unit), "present": quantity(record.get("present"), unit)}
        known = _("Predicted: %(predicted)s; at present: %(present)s.")
        told.append((known if record.get("present") else _("Predicted: %(predicted)s.")) % words)
    for item in finding.verifications.all():
        if item.verdict == Verification.Verdict.OPEN:
            told.append(_("It is being measured again: whether it holds is not known yet."))
        elif item.gain and item == finding.latest:
            told.append(counted.quote(_verified(item), CHANGES, REALISED, str(number), f"{item.gain:.3g}"))
        else:
            told.append(_verified(item))
    return told


def _verified(item: Verification) -> str:
    words = {
        "verdict": str(item.get_verdict_display()),
        "pairs": item.pairs,
        "present": quantity(item.present, item.unit),
        "realised": quantity(item.realised, item.unit),
        "gain": f"{item.gain:.3g}" if item.gain else "–",
        "low": f"{item.gain_low:.3g}" if item.gain_low else "–",
        "high": f"{item.gain_high:.3g}" if item.gain_high else "–",
    }
    text = _(
        "Measured again in %(pairs)s pairs: %(present)s now, %(realised)s with the change, gain ×%(gain)s"
        " (%(low)s – %(high)s): %(verdict)s."
    )
    return text % words
