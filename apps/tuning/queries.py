"""Reads of findings, and of what their verifications measured."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Prefetch, Q, QuerySet

from apps.accounts.models import Team, User
from apps.bench import tools, units
from apps.bench.rules import bearing
from apps.bench.sweep.verification import AGREE, Pair
from apps.bench.toolkit import Parameter
from apps.campaigns.models import Experiment, Trial
from apps.campaigns.queries.visibility import counted, told_to, visible
from apps.core.messages import render
from apps.results import doubts
from apps.results.doubts import Doubts
from apps.results.models import Sample
from apps.testbeds.models import Node
from apps.testbeds.patterns import told_ends
from apps.toolbox import queries as toolbox
from apps.tuning.models import Decision, Finding, Verification

# Of a finding's history so many are told: whoever may decide may do so again and again.
MOST_LINES = 200


def findings_for(user: User) -> QuerySet[Finding]:
    """Return the findings of campaigns that the user may see, with what lists show, the latest first."""
    rows = Finding.objects.filter(campaign__deleting_at=None).select_related("campaign", "team")
    return visible(rows.prefetch_related(verifications_for(user)), user, path="campaign")


def verifications_for(user: User) -> Prefetch:
    """Return what reads of findings the verifications whose campaigns the user may see: others have measured that."""
    rows = Verification.objects.filter(told_to(user, team="finding__team")).select_related("campaign")
    return Prefetch("verifications", rows)


def history_of(finding: Finding, user: User) -> list[Decision]:
    """Return what was decided of a finding, the latest first, 200 lines at most.

    What a measurement said stands there for whoever sees its campaign; for others only the state that it gave.
    """
    lines = list(finding.decisions.select_related("user", "verification__campaign")[:MOST_LINES])
    verifications = Verification.objects.filter(told_to(user, team="finding__team"), finding=finding)
    in_sight = set(verifications.values_list("pk", flat=True))
    for line in lines:
        if line.verification_id is not None and line.verification_id not in in_sight:
            line.note, line.verification = None, None
    return lines


def listed_for(user: User) -> QuerySet[Finding]:
    """Return those of the campaigns that count for the user: what is listed for whoever names no campaign."""
    return counted(findings_for(user), user, path="campaign")


def standing(findings: QuerySet[Finding], state: str = "") -> QuerySet[Finding]:
    """Return those of a state, if one is asked for; else all but refuted ones, which are advice no more."""
    return findings.filter(state=state) if state else findings.exclude(state=Finding.State.REFUTED)


def by_use(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings as one acts on them: changes by gain, doubts, causes, what needs no change."""
    order = [Finding.Kind.RECOMMENDATION, Finding.Kind.DOUBT, Finding.Kind.DIAGNOSIS, Finding.Kind.NO_CHANGE]
    ranks = {kind.value: rank for rank, kind in enumerate(order)}
    return sorted(findings, key=lambda finding: (ranks[finding.kind], -(finding.predicted_gain or 0.0)))


def attach_ends(findings: Iterable[Finding]) -> None:
    """Give each finding the names of the ends that it speaks of, as (role, name) pairs and in words."""
    listed = list(findings)
    node_ids = {node for finding in listed for _role, node in finding.ends}
    names = dict(Node.objects.filter(pk__in=node_ids).values_list("pk", "name")) if node_ids else {}
    for finding in listed:
        finding.end_names = [(role, names.get(node, "?")) for role, node in finding.ends]
        finding.told_ends = told_ends(
            [role for role, _name in finding.end_names], [name for _role, name in finding.end_names]
        )


def attach_flags(findings: Iterable[Finding]) -> None:
    """Give each finding the mark of the trials that it rests on, in one query.

    A flag that bears on other metrics than those that the finding rests on says nothing of it.
    """
    listed = list(findings)
    behind = doubts.doubts_behind({trial for finding in listed for trial in _evidence(finding)})
    for finding in listed:
        finding.mark = behind.bearing(_evidence(finding), metrics_of(finding)).about(_evidence(finding))


def attach_values(findings: Iterable[Finding]) -> None:
    """Give each finding its value as people read it."""
    for finding in findings:
        finding.value_text = value_text(finding)


def flags_behind(finding: Finding, trials: Collection[int]) -> Doubts:
    """Return the flags of trials that bear on what a finding rests on."""
    return doubts.doubts_behind(trials).bearing(trials, metrics_of(finding))


def metrics_of(finding: Finding) -> frozenset[str]:
    """Return the metrics of the figures that a finding rests on, as its rule names them; none where it names none."""
    figures: list[Any] = []
    for record in (finding.details, *(finding.details.get("parts") or ())):
        figures += [record.get("proof"), _params(record.get("title")), *map(_params, record.get("why") or ())]
    return bearing.metrics_of(finding.rule, bearing.named_in(figures))


def value_text(finding: Finding) -> str:
    """Return a finding's value as people read it, "–" without one.

    0 of a parameter that is left to the system there is no quantity: a window of 0 B is "autotuned".
    """
    if finding.value is None:
        return "–"
    proof = finding.details.get("proof")
    if not finding.value and isinstance(proof, Mapping) and isinstance(proof.get("then"), Mapping):
        zeros = {name for name, value in proof["then"].items() if value == 0}
        for parameter in _parameters_of(str(proof.get("tool")), finding.team):
            if parameter.zero and parameter.unit == finding.unit and parameter.name in zeros:
                return render(parameter.zero)
    return units.format_quantity(finding.value, finding.unit)


def _parameters_of(slug: str, team: Team) -> Sequence[Parameter]:
    try:
        return toolbox.get_tool(slug, team).parameters
    except tools.UnknownTool:
        return ()


def _params(message: Any) -> Any:
    return message.get("params") if isinstance(message, Mapping) else None


def _evidence(finding: Finding) -> list[int]:
    return list(finding.details.get("evidence") or ())


def verification_of(campaign_id: int, user: User) -> Verification | None:
    """Return what a campaign verifies, of a finding that the user may see, or None."""
    rows = Verification.objects.select_related("finding__campaign", "finding__team", "campaign")
    return visible(rows, user, path="finding__campaign").filter(campaign=campaign_id).first()


@dataclass(frozen=True)
class Calibration:
    """How predictions turned out: how many were put to the test, verified, refuted, and within 15 % of what came."""

    judged: int
    verified: int
    refuted: int
    close: int


def calibration_for(user: User) -> Calibration:
    """Return how the predictions turned out of the campaigns that count for the user, as measured here.

    What an archive says was measured is its word: it counts for nothing here.
    """
    rows = counted(Verification.objects.filter(imported_from=""), user, path="finding__campaign").filter(
        told_to(user, team="finding__team"), gain__isnull=False, predicted_gain__isnull=False
    )
    close = Q(predicted_gain__gte=F("gain") * (1 - AGREE), predicted_gain__lte=F("gain") * (1 + AGREE))
    return Calibration(
        **rows.aggregate(
            judged=Count("pk"),
            verified=Count("pk", filter=Q(verdict=Verification.Verdict.VERIFIED)),
            refuted=Count("pk", filter=Q(verdict=Verification.Verdict.REFUTED)),
            close=Count("pk", filter=close),
        )
    )


@dataclass(frozen=True)
class Blocks:
    """What an A/B experiment measured: (now, then) of each block that gave both, and how many were attempted.

    It `is_complete` while nothing planned is left to be done.
    """

    pairs: list[Pair]
    attempted: int
    is_complete: bool


def blocks_of(experiment: Experiment, metric: str) -> Blocks:
    """Return the blocks of an A/B experiment: its first point is now, its second then, a repetition is a block."""
    trials = Trial.objects.filter(experiment=experiment, is_warmup=False)
    samples = Sample.objects.filter(experiment=experiment, metric=metric, counts=True)
    blocks: dict[int, dict[int, float]] = defaultdict(dict)
    for block, point, value in samples.values_list("trial__repetition", "trial__point", "value"):
        blocks[block][point] = value
    return Blocks(
        pairs=[(values[0], values[1]) for _block, values in sorted(blocks.items()) if len(values) == 2],
        attempted=trials.values("repetition").distinct().count(),
        is_complete=not trials.filter(state__in=(Trial.State.PENDING, Trial.State.RUNNING)).exists(),
    )
