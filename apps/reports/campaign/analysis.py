"""What was wrong and why, what to change exactly, and what that gains."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from apps.bench.rules.folding import FOLDED
from apps.core import formulas, messages
from apps.reports.campaign.conclusions import (
    Conclusion,
    changes_of,
    established_of,
    evidence_of,
    kept_of,
    open_questions,
    problems_of,
    state_of,
)
from apps.reports.campaign.grounds import Ground, Grounds
from apps.reports.campaign.material import Material
from apps.reports.claims import counted
from apps.reports.columns import interval_columns, quantity, scale_of
from apps.reports.document import Block, Column, Items, Listing, Paragraph, Part, Section, Table, TextLink, Value
from apps.tuning.models import Finding, Verification

# The tables of what was concluded, which sentences count and quote.
PROBLEMS, CHANGES, VERIFICATIONS = "problems", "recommendations", "verifications"
# Its columns: the number of a change, its state, and its gains.
STATE, PREDICTED, REALISED = 2, 4, 5


def problems(material: Material, grounds: Grounds) -> Section:
    """Return the problem analysis: what holds rates back, then what was established and is no fault."""
    conclusions, established = problems_of(material), established_of(material)
    parts = [_problem(material, item, grounds) for item in conclusions]
    if established:
        title = _("What was established, and is no fault")
        parts.append(
            Section("established", title, (), tuple(_problem(material, item, grounds) for item in established))
        )
    blocks: list[Block] = [*open_questions(material)]
    if conclusions:
        blocks.append(_problem_table(conclusions))
    elif material.is_concluded:
        blocks.append(Paragraph((_("Nothing was found that holds the measured rates back."),), key="problems"))
    return Section("problems", _("Problem analysis"), tuple(blocks), tuple(parts))


def findings(material: Material, grounds: Grounds) -> Section:
    """Return what to change exactly, what may stay, and what came of changes that were measured."""
    changes, unchanged = changes_of(material), kept_of(material)
    blocks: list[Block] = []
    if not changes and not material.is_concluded:
        text = _("Whether a change is to be recommended is not known yet.")
        if material.silent:
            text = _("Whether a change is to be recommended is not known.")
        blocks += [Paragraph((text,), style="warning"), *(open_questions(material) if material.silent else ())]
    elif not changes:
        blocks.append(Paragraph((_("No change is recommended."),), key="findings"))
    else:
        blocks.append(_table(changes, grounds))
    if unchanged:
        blocks.append(Paragraph((_("What needs no change:"),)))
        blocks.append(Items(tuple(item.line for item in unchanged)))
    blocks += [block for block in (_verifications(changes), grounds.table()) if block]
    parts = tuple(_change(material, item, number, grounds) for number, item in enumerate(changes, start=1))
    return Section("findings", _("Findings and what to change"), tuple(blocks), parts)


def gain_of(finding: Finding, number: int, ground: Ground) -> tuple[Part, ...]:
    """Return what the change of a number in the table of changes gained, or is to gain, as the tables have it."""
    latest = finding.latest
    if latest and latest.gain:
        gain = f"{latest.gain:.3g}"
        gain_text = (
            _("gain of ×%(gain)s realised elsewhere") if latest.imported_from else _("realised gain ×%(gain)s")
        )
        gain_template = " – " + gain_text % {"gain": gain}
        return (counted.quote(gain_template, CHANGES, REALISED, str(number), gain),)
    text = " – " + _("predicted gain ×%(gain)s")
    if finding.predicted_gain and not ground.gain:
        # Of one that an archive brought without its figures only the ratio is known.
        gain = f"{finding.predicted_gain:.3g}"
        return (counted.quote(text % {"gain": gain}, CHANGES, PREDICTED, str(number), gain),)
    predicted = ground.gained(text)
    return (predicted,) if predicted else ()


def _problem(material: Material, item: Conclusion, grounds: Grounds) -> Section:
    ground = grounds.own[item.first.pk]
    blocks = grounds.marked(
        item.first, lambda own, parts: [*_reasons(own), *_formula(own.own), *_others(own.own), *_also(parts)]
    )
    blocks += evidence_of(material, item, ground.rests(), ground.flagged())
    return Section(f"problem-{item.key}", item.title, tuple(blocks), claim=item.link.claim)


def _change(material: Material, item: Conclusion, number: int, grounds: Grounds) -> Section:
    finding = item.first
    record, ground = finding.details, grounds.own[finding.pk]
    blocks = grounds.marked(finding, lambda own, _parts: [*_reasons(own), *_formula(own.own), *_listings(own.own)])
    blocks += [Paragraph(parts) for parts in _outcomes(finding, ground, number)]
    for title, lines in ((_("Limits"), record.get("limits")), (_("Side effects"), record.get("side_effects"))):
        if lines:
            blocks += [Paragraph((f"{title}:",)), _list(lines)]
    blocks += [
        *_others(record),
        *grounds.marked(finding, lambda _own, parts: _also(parts)),
        *evidence_of(material, item, ground.rests(), ground.flagged()),
    ]
    return Section(f"finding-{item.key}", item.title, tuple(blocks), claim=item.link.claim)


def _listings(record: Mapping[str, Any]) -> list[Block]:
    change, undo = record.get("change", ""), record.get("undo", "")
    blocks: list[Block] = [Listing(change, _("To change"))] if change else []
    return [*blocks, Listing(undo, _("To take it back"))] if undo else blocks


def _also(parts: Sequence[Ground]) -> list[Block]:
    """Return what else was proposed for a finding's question: its evidence, or another way to it."""
    if not parts:
        return []
    blocks: list[Block] = [Paragraph((_("For the same question also:"),))]
    for ground in parts:
        label = ground.own.get("confidence_label")
        beside = [
            *([_("Confidence: %(confidence)s. ") % {"confidence": _(label)}] if label else []),
            *ground.outlook(),
        ]
        why = [(ground.line_of(line),) for line in ground.own.get("why") or ()]
        blocks.append(Items(((ground.said, *([" – "] if beside else ()), *beside), *why)))
        blocks += [*_formula(ground.own), *_listings(ground.own)]
    return blocks


def _reasons(ground: Ground) -> list[Block]:
    record = ground.own
    # What the parts of a finding are stands with them.
    why = [line for line in record.get("why") or () if not (record.get("parts") and line.get("msgid") == FOLDED)]
    blocks: list[Block] = [Items(tuple((ground.line_of(line),) for line in why))] if why else []
    if record.get("against"):
        lines = tuple((ground.line_of(line),) for line in record["against"])
        blocks += [Paragraph((_("What speaks against it:"),)), Items(lines)]
    return blocks


def _formula(record: Mapping[str, Any]) -> list[Block]:
    return [Listing(formulas.render(record["formula"]))] if record.get("formula") else []


def _others(record: Mapping[str, Any]) -> list[Block]:
    """Return other explanations and what is still unmeasured."""
    blocks: list[Block] = []
    if record.get("alternatives"):
        lines = [
            f"{messages.render(item['title'])} {messages.render(item['test'])}" for item in record["alternatives"]
        ]
        blocks += [
            Paragraph((_("Other explanations, the likeliest first:"),)),
            Items(tuple((text,) for text in lines), ordered=True),
        ]
    if record.get("missing"):
        blocks += [Paragraph((_("Still unmeasured:"),)), _list(record["missing"])]
    return blocks


def _list(lines: Iterable[Mapping[str, Any]]) -> Items:
    return Items(tuple((messages.render(line),) for line in lines))


def _problem_table(conclusions: Sequence[Conclusion]) -> Table:
    columns = Column(_("No."), kind="number"), Column(_("Problem")), Column(_("Confidence"))
    rows: list[tuple[Value | TextLink, ...]] = []
    for number, item in enumerate(conclusions, start=1):
        label = item.first.details.get("confidence_label", "")
        rows.append((number, item.link, _(label) if label else ""))
    return _with_nodes_and_flags(Table(PROBLEMS, _("Problems"), columns, rows), conclusions)


def _with_nodes_and_flags(table: Table, conclusions: Sequence[Conclusion]) -> Table:
    """Return a table of conclusions with nodes, campaigns and the flags of what each rests on behind it.

    None of these is a column where none has any.
    """
    own: dict[str, list[str | None]] = {
        _("Nodes"): [", ".join(item.ends) for item in conclusions],
        _("Measured"): ["; ".join(item.sources) for item in conclusions],
        _("Flags"): [item.first.mark.text if item.first.mark else None for item in conclusions],
    }
    for title, cells in own.items():
        if any(cells):
            rows = [(*row, cell) for row, cell in zip(table.rows, cells, strict=True)]
            table = replace(table, columns=(*table.columns, Column(title)), rows=rows)
    return table


def _table(changes: Sequence[Conclusion], grounds: Grounds) -> Table:
    columns = (
        Column(_("No."), kind="number"),
        Column(_("Finding")),
        Column(_("State")),
        Column(_("Confidence")),
        Column(_("Predicted gain (ratio)"), kind="number"),
        Column(_("Realised gain (ratio)"), kind="number"),
        *interval_columns(_("Realised gain"), scale_of((), "1")),
    )
    rows: list[tuple[Value | TextLink, ...]] = []
    for number, item in enumerate(changes, start=1):
        finding = item.first
        latest = finding.latest
        label = finding.details.get("confidence_label", "")
        rows.append(
            (
                number,
                item.link,
                state_of(finding),
                _(label) if label else "",
                grounds.own[finding.pk].gain or finding.predicted_gain,
                latest.gain if latest else None,
                latest.gain_low if latest else None,
                latest.gain_high if latest else None,
            )
        )
    return _with_nodes_and_flags(Table(CHANGES, _("What to change and what it gains"), columns, rows), changes)


def _outcomes(finding: Finding, ground: Ground, number: int) -> list[tuple[Part, ...]]:
    """Return what is predicted and what measuring again gave; one that is under way in one line."""
    outlook = ground.outlook()
    outcomes = [outlook] if outlook else []
    for place, item in enumerate(finding.verifications.all(), start=1):
        if item.verdict == Verification.Verdict.OPEN:
            outcomes.append((_("It is being measured again: whether it holds is not known yet."),))
        else:
            outcomes.append((_verified(item, f"{number}.{place}"),))
    return outcomes


def _verified(item: Verification, name: str) -> Part:
    """Return what measuring again gave, as the table of what was measured has it."""
    words = {
        "verdict": str(item.get_verdict_display()),
        "pairs": str(item.pairs),
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
    if item.imported_from:
        text = _(
            "Measured again elsewhere in %(pairs)s pairs: %(present)s now, %(realised)s with the change, gain"
            " ×%(gain)s (%(low)s – %(high)s): %(verdict)s."
        )
    names = ("verdict", "pairs", "present", "realised", "gain", "low", "high")
    cells = {column: words[place] for column, place in enumerate(names, start=2) if words[place] != "–"}
    return counted.cells(text % words, VERIFICATIONS, name, cells)


def _verifications(changes: Sequence[Conclusion]) -> Table | None:
    """Return what came of changes that were measured, None if none was."""
    columns = (
        Column(_("No.")),
        Column(_("Finding")),
        Column(_("Verdict")),
        Column(_("Pairs"), kind="number"),
        Column(_("At present")),
        Column(_("With the change")),
        Column(_("Realised gain (ratio)"), kind="number"),
        *interval_columns(_("Realised gain"), scale_of((), "1")),
    )
    rows: list[tuple[Value | TextLink, ...]] = [
        (
            f"{number}.{place}",
            item.link,
            str(verification.get_verdict_display()),
            verification.pairs,
            quantity(verification.present, verification.unit),
            quantity(verification.realised, verification.unit),
            verification.gain,
            verification.gain_low,
            verification.gain_high,
        )
        for number, item in enumerate(changes, start=1)
        for place, verification in enumerate(item.first.verifications.all(), start=1)
        if verification.verdict != Verification.Verdict.OPEN
    ]
    return Table(VERIFICATIONS, _("Changes that were measured"), columns, rows) if rows else None
