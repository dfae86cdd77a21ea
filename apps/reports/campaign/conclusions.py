"""What is concluded: what several findings say alike is one; which of it is a problem, and on what it rests."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.core import messages
from apps.reports.campaign.material import SHOWN_TRIALS, Material
from apps.reports.document import Block, Paragraph, Part, TextLink
from apps.testbeds.patterns import told_ends
from apps.tuning.models import Finding

# What these rules find is how things are, and no fault: what a path carries, which link of it is the slowest.
ESTABLISHED = frozenset({"path-capacity", "path-bottleneck", "mpi-contention", "workload-nodes"})
# A diagnosis whose subject is this says that the path is filled: nothing is lost.
FILLED = "path"


@dataclass(frozen=True)
class Conclusion:
    """Findings that say the same in the same words, of one or several pairs of ends; the surest first."""

    link: TextLink
    findings: tuple[tuple[Finding, str], ...]
    # Between which ends each of them speaks of, where it does: "pusan-1 → kisti-1".
    ends: tuple[str, ...] = ()
    # By which campaigns, and when, where the report tells of several: "WAN again, 2026-11-27".
    sources: tuple[str, ...] = ()

    @property
    def line(self) -> tuple[Part, ...]:
        """Return what is concluded, between whom, and by what: the same may not hold the other way, nor later."""
        where = "; ".join(text for text in (", ".join(self.ends), *self.sources) if text)
        return (self.link, f" ({where})") if where else (self.link,)

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
    def title(self) -> str:
        """Return the words that they say, which `link` leads from to the first finding."""
        return self.link.text


def problems_of(material: Material) -> list[Conclusion]:
    """Return what holds the measured rates back, or is doubtful."""
    diagnoses = conclusions_of(material, (Finding.Kind.DIAGNOSIS, Finding.Kind.DOUBT))
    return [item for item in diagnoses if not is_established(item.first)]


def established_of(material: Material) -> list[Conclusion]:
    """Return what was established of the paths and file systems, which is no fault."""
    return [item for item in conclusions_of(material, (Finding.Kind.DIAGNOSIS,)) if is_established(item.first)]


def is_established(finding: Finding) -> bool:
    """Return whether a finding says how things are, and not that anything is wrong."""
    if finding.kind != Finding.Kind.DIAGNOSIS:
        return False
    # What was measured between settings tried says how they differ: which of them is there nobody knows.
    is_known = finding.rule in ESTABLISHED or bool(finding.details.get("is_comparison"))
    return is_known or (finding.rule == "tcp-limit" and finding.details.get("subject") == FILLED)


def state_of(finding: Finding) -> str:
    """Return the state in words: what an archive says was verified or refuted was not measured here."""
    if not finding.judged_elsewhere:
        return str(finding.get_state_display())
    return _("refuted elsewhere") if finding.state == Finding.State.REFUTED else _("verified elsewhere")


def changes_of(material: Material) -> list[Conclusion]:
    """Return what is recommended to be changed."""
    return conclusions_of(material, (Finding.Kind.RECOMMENDATION,))


def kept_of(material: Material) -> list[Conclusion]:
    """Return what needs no change."""
    return conclusions_of(material, (Finding.Kind.NO_CHANGE,))


def conclusions_of(material: Material, kinds: Collection[str]) -> list[Conclusion]:
    """Return what is concluded of some kinds; what is said alike of several ends is one."""
    by_title: dict[tuple[str, str], list[tuple[Finding, str]]] = {}
    for finding, ref in material.findings:
        if finding.kind in kinds:
            by_title.setdefault((finding.rule, messages.render(finding.title)), []).append((finding, ref))
    return [
        Conclusion(
            material.titles.get(members[0][0].pk) or TextLink(title, members[0][1]),
            tuple(members),
            tuple(dict.fromkeys(ends for finding, _ref in members if (ends := _ends(material, finding)))),
            tuple(dict.fromkeys(text for finding, _ref in members if (text := material.source_of(finding)))),
        )
        for (_rule, title), members in by_title.items()
    ]


def outdated_of(material: Material) -> list[tuple[Part, ...]]:
    """Return what earlier campaigns concluded of what a later one measured otherwise, and what it has by now."""
    text = _("measured otherwise since: %(after)s instead of %(before)s (%(campaign)s, %(date)s)")
    lines: list[tuple[Part, ...]] = []
    for finding, ref, change in material.outdated:
        where = "; ".join(part for part in (_ends(material, finding), material.source_of(finding)) if part)
        words = {
            "before": change.before,
            "after": change.after,
            "campaign": change.campaign.name,
            "date": f"{change.at:%Y-%m-%d}",
        }
        lines.append((TextLink(messages.render(finding.title), ref), f" ({where}) – {text % words}"))
    return lines


def open_questions(material: Material) -> list[Block]:
    """Return that an analysis waits or failed, and by which rules, or that rules had no run to look at.

    Nothing may be taken for concluded then: `Material.is_concluded`.
    """
    many = len(material.campaigns) > 1
    lines = [(item.campaign, line) for item in material.unfinished for line in item.lines] + material.silent
    texts = [
        f"{campaign.name}: {messages.render(line)}" if many else messages.render(line) for campaign, line in lines
    ]
    return [Paragraph((text,), style="warning") for text in texts]


def evidence_of(material: Material, claim: Conclusion, rests: Part | None, flagged: Part | None) -> list[Block]:
    """Return how sure it is, how many trials are `flagged` that it `rests` on, and of what the same is said."""
    finding, ref = claim.findings[0]
    trial_ids = finding.details.get("evidence", ())
    links: list[Part] = []
    for pk in trial_ids[:SHOWN_TRIALS]:
        if trial := material.evidence.get(pk):
            number = material.numbers.get(trial.experiment_id)
            name = f"{number or trial.experiment.name}/{trial.position + 1}"
            links += [", " if links else ": ", TextLink(name, material.trial_ref(trial.experiment, trial.position))]
    if links and len(trial_ids) > SHOWN_TRIALS:
        links.append(" …")
    label = _(finding.details.get("confidence_label", "")) if finding.details.get("confidence_label") else "–"
    words = {"rule": finding.rule, "version": finding.rule_version, "confidence": label}
    text = _("Confidence: %(confidence)s. ") % words
    rule = TextLink(_("Rule %(rule)s, version %(version)s") % words, ref)
    blocks: list[Block] = [
        Paragraph(
            (
                text,
                *([flagged, " "] if flagged else []),
                rule,
                ". ",
                *([rests] if rests else []),
                *(links if rests else ()),
            ),
            style="remark",
        )
    ]
    if len(claim.findings) > 1:
        same: list[Part] = [_("The same holds for:"), " "]
        for place, (other, other_ref) in enumerate(claim.findings[1:]):
            same += [", " if place else "", TextLink(_subject(material, other), other_ref)]
        blocks.append(Paragraph(tuple(part for part in same if part), style="remark"))
    return blocks


def _subject(material: Material, finding: Finding) -> str:
    """Return what a finding speaks of: its ends by their names, or what its rule calls it."""
    return _ends(material, finding) or str(finding.details.get("subject", "")) or finding.campaign.name


def _ends(material: Material, finding: Finding) -> str:
    ends = [(role, material.nodes[node].name) for role, node in finding.ends if node in material.nodes]
    return told_ends([role for role, _name in ends], [name for _role, name in ends])
