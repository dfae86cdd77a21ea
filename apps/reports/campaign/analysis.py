"""What was wrong and why, what to change exactly, what that gains, and what it all comes to."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.core import messages
from apps.reports.campaign.columns import quantity
from apps.reports.campaign.material import SHOWN_TRIALS, Material
from apps.reports.document import Block, Column, Items, Link, Listing, Paragraph, Part, Section, Table, Value
from apps.tuning.models import Finding, Verification


@dataclass(frozen=True)
class Claim:
    """Findings that say the same in the same words, of one or several pairs of ends; the surest first."""

    title: str
    findings: tuple[tuple[Finding, str], ...]

    @property
    def first(self) -> Finding:
        """Return the finding whose reasons stand for all."""
        return self.findings[0][0]

    @property
    def key(self) -> str:
        """Return a key that stays the same whatever else is found, and where the campaign has another id."""
        ref = min(ref.partition("/")[2] for _finding, ref in self.findings)
        return f"{self.first.rule}-{hashlib.sha256(ref.encode()).hexdigest()[:8]}"

    @property
    def link(self) -> Link:
        """Return the title, which leads to the first finding."""
        return Link(self.title, self.findings[0][1])


_PROBLEMS = (Finding.Kind.DIAGNOSIS, Finding.Kind.DOUBT)
# What a conclusion names; the rest stands in the sections before.
MOST_IN_SHORT = 5


def problems(made: Material) -> Section:
    """Return the problem analysis: what limits, each with what speaks for and against it."""
    found = _claims(made, _PROBLEMS)
    parts = tuple(_problem(made, claim) for claim in found)
    blocks = [*_unfinished(made)]
    if not found and not made.unfinished:
        blocks.append(Paragraph((_("Nothing was found that holds the measured rates back."),), key="problems"))
    return Section("problems", _("Problem analysis"), tuple(blocks), parts)


def findings(made: Material) -> Section:
    """Return what to change exactly, what may stay, and what came of changes that were measured."""
    changes = _claims(made, (Finding.Kind.RECOMMENDATION,))
    kept = _claims(made, (Finding.Kind.NO_CHANGE,))
    blocks: list[Block] = []
    if not changes and made.unfinished:
        blocks.append(Paragraph((_("Whether a change is to be recommended is not known yet."),), style="warning"))
    elif not changes:
        blocks.append(Paragraph((_("No change is recommended."),), key="findings"))
    else:
        blocks.append(_table(changes))
    if kept:
        blocks.append(Paragraph((_("What needs no change:"),)))
        blocks.append(Items(tuple((claim.link,) for claim in kept)))
    parts = tuple(_change(made, claim) for claim in changes)
    return Section("findings", _("Findings and what to change"), tuple(blocks), parts)


def in_short(made: Material, key: str) -> tuple[Block, ...]:
    """Return what it all comes to: the authors' own words of a publication, what limits, what to change."""
    blocks = [*_unfinished(made)]
    told = [campaign for campaign in made.campaigns if campaign.publication.get("conclusion")]
    for place, campaign in enumerate(told):
        text = _("The authors conclude: %(text)s") % {"text": campaign.publication["conclusion"]}
        blocks.append(Paragraph((text,), key=f"{key}-authors-{place + 1}", style="remark"))
    found, changes = _claims(made, _PROBLEMS), _claims(made, (Finding.Kind.RECOMMENDATION,))
    if found or changes or not made.unfinished:
        blocks.append(Paragraph((_counted(found, changes),), key=key))
    named = [*found[:MOST_IN_SHORT], *changes[:MOST_IN_SHORT]]
    if named:
        blocks.append(Items(tuple((claim.link, *_gain(claim.first)) for claim in named)))
    return tuple(blocks)


def _unfinished(made: Material) -> list[Block]:
    """Return that an analysis waits or failed, and by which rules: nothing may be taken for concluded meanwhile."""
    many = len(made.campaigns) > 1
    lines = [
        f"{item.campaign.name}: {messages.render(line)}" if many else messages.render(line)
        for item in made.unfinished
        for line in item.lines
    ]
    return [Paragraph((line,), style="warning") for line in lines]


def _claims(made: Material, kinds: Collection[str]) -> list[Claim]:
    """Return what is concluded of some kinds; what is said alike of several ends is one."""
    found: dict[tuple[str, str], list[tuple[Finding, str]]] = {}
    for finding, ref in made.findings:
        if finding.kind in kinds:
            found.setdefault((finding.rule, messages.render(finding.title)), []).append((finding, ref))
    return [Claim(title, tuple(members)) for (_rule, title), members in found.items()]


def _counted(found: Sequence[Claim], changes: Sequence[Claim]) -> str:
    if not found and not changes:
        return _("Nothing was found that holds the measured rates back, and no change is recommended.")
    problems = ngettext("%(n)s problem was found", "%(n)s problems were found", len(found)) % {"n": len(found)}
    advice = ngettext("%(n)s change is recommended", "%(n)s changes are recommended", len(changes))
    verified = sum(claim.first.state == Finding.State.VERIFIED for claim in changes)
    text = f"{problems}; {advice % {'n': len(changes)}}"
    if verified:
        proved = ngettext("%(n)s was verified by measuring", "%(n)s were verified by measuring", verified)
        text += f", {proved % {'n': verified}}"
    return text + "."


def _gain(finding: Finding) -> tuple[Part, ...]:
    latest = finding.latest
    if latest and latest.gain:
        return (" – " + _("realised gain ×%(gain)s") % {"gain": f"{latest.gain:.3g}"},)
    if finding.predicted_gain:
        return (" – " + _("predicted gain ×%(gain)s") % {"gain": f"{finding.predicted_gain:.3g}"},)
    return ()


def _problem(made: Material, claim: Claim) -> Section:
    record = claim.first.details
    blocks = [*_reasons(record), *_formula(record), *_others(record), *_rests_on(made, claim)]
    return Section(f"problem-{claim.key}", claim.title, tuple(blocks))


def _change(made: Material, claim: Claim) -> Section:
    finding = claim.first
    record = finding.details
    blocks: list[Block] = [*_reasons(record), *_formula(record)]
    if finding.change:
        blocks.append(Listing(finding.change, _("To change")))
    if finding.undo:
        blocks.append(Listing(finding.undo, _("To take it back")))
    blocks += [Paragraph((text,)) for text in _outcomes(finding)]
    for title, lines in ((_("Limits"), record.get("limits")), (_("Side effects"), record.get("side_effects"))):
        if lines:
            blocks += [Paragraph((f"{title}:",)), _list(lines)]
    blocks += [*_others(record), *_rests_on(made, claim)]
    return Section(f"finding-{claim.key}", claim.title, tuple(blocks))


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


def _rests_on(made: Material, claim: Claim) -> list[Block]:
    """Return how sure it is, on which trials it rests, and of what the same is said."""
    finding, ref = claim.findings[0]
    wanted = finding.details.get("evidence", ())
    links: list[Part] = []
    for pk in wanted[:SHOWN_TRIALS]:
        if trial := made.evidence.get(pk):
            number = made.numbers.get(trial.experiment_id)
            name = f"{number or trial.experiment.name}/{trial.position + 1}"
            links += [", " if links else ": ", Link(name, made.trial_ref(trial.experiment, trial.position))]
    if links and len(wanted) > SHOWN_TRIALS:
        links.append(" …")
    label = _(finding.details.get("confidence_label", "")) if finding.details.get("confidence_label") else "–"
    words = {"rule": finding.rule, "version": finding.rule_version, "confidence": label}
    text = _("Confidence: %(confidence)s. Rule %(rule)s, version %(version)s. ") % words
    count = ngettext("Rests on %(n)s trial", "Rests on %(n)s trials", len(wanted)) % {"n": len(wanted)}
    blocks: list[Block] = [Paragraph((text, Link(count, ref), *links), style="remark")]
    if len(claim.findings) > 1:
        same: list[Part] = [_("The same holds for:"), " "]
        for place, (other, other_ref) in enumerate(claim.findings[1:]):
            same += [", " if place else "", Link(_subject(made, other), other_ref)]
        blocks.append(Paragraph(tuple(part for part in same if part), style="remark"))
    return blocks


def _subject(made: Material, finding: Finding) -> str:
    """Return what a finding speaks of: its ends by their names, or what its rule calls it."""
    ends = [made.nodes[node].name for _role, node in finding.ends if node in made.nodes]
    return " → ".join(ends) or str(finding.details.get("subject", "")) or finding.campaign.name


def _table(changes: Sequence[Claim]) -> Table:
    columns = (
        Column(_("No."), kind="number"),
        Column(_("Finding")),
        Column(_("State")),
        Column(_("Confidence")),
        Column(_("Predicted gain (ratio)"), kind="number"),
        Column(_("Realised gain (ratio)"), kind="number"),
        Column(_("from (95 %)"), kind="number"),
        Column(_("to (95 %)"), kind="number"),
    )
    rows: list[tuple[Value | Link, ...]] = []
    for number, claim in enumerate(changes, start=1):
        finding = claim.first
        latest = finding.latest
        label = finding.details.get("confidence_label", "")
        rows.append(
            (
                number,
                claim.link,
                str(finding.get_state_display()),
                _(label) if label else "",
                finding.predicted_gain,
                latest.gain if latest else None,
                latest.gain_low if latest else None,
                latest.gain_high if latest else None,
            )
        )
    return Table("recommendations", _("What to change and what it gains"), columns, rows)


def _outcomes(finding: Finding) -> list[str]:
    """Return what is predicted and what measuring again gave."""
    record, told = finding.details, []
    if record.get("predicted"):
        unit = record.get("predicted_unit", "")
        words = {"predicted": quantity(record["predicted"], unit), "present": quantity(record.get("present"), unit)}
        known = _("Predicted: %(predicted)s; at present: %(present)s.")
        told.append((known if record.get("present") else _("Predicted: %(predicted)s.")) % words)
    for item in finding.verifications.all():
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
