"""Ask the rules what a campaign's results say, and keep the answers."""

from collections import defaultdict
from typing import Any

from django.db import transaction

from apps.accounts import scoping
from apps.accounts.models import Role, User
from apps.agents import queries as agents
from apps.bench import rules
from apps.bench.rules.base import Evidence, FindingDraft, PathFacts, Point
from apps.bench.tools.base import is_invalid
from apps.campaigns.models import Campaign, Lane
from apps.results import queries as results
from apps.results.models import Sample
from apps.testbeds import queries as testbeds
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox
from apps.tuning.models import Finding

# Who was measured: (role, node id) pairs in the order of the tool's roles.
Ends = tuple[tuple[str, int], ...]


class FindingNeedsReason(ValueError):
    """A finding was dismissed without saying why."""


@transaction.atomic
def refresh_findings(*, campaign: Campaign) -> list[Finding]:
    """Draw the findings of a campaign anew from its results, one set for each pair of ends measured.

    What a person decided of a finding is kept; a finding that no longer follows and was not touched goes.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    kept: list[Finding] = []
    for ends, evidence in evidence_of(campaign).items():
        for draft in rules.findings(evidence):
            kept.append(_store(campaign, ",".join(f"{role}={node}" for role, node in ends), draft))
    stale = campaign.findings.filter(state=Finding.State.NEW).exclude(pk__in=[finding.pk for finding in kept])
    stale.delete()
    return kept


def evidence_of(campaign: Campaign) -> dict[Ends, Evidence]:
    """Return what the campaign measured, by the nodes it was measured between."""
    lanes = list(Lane.objects.filter(experiment__campaign=campaign).select_related("experiment"))
    used = {slug: toolbox.get_tool(slug) for slug in {lane.experiment.tool for lane in lanes}}
    ends = {lane.pk: results.ends_of(lane, used[lane.experiment.tool]) for lane in lanes}
    cells: dict[Ends, dict[tuple[int, int], dict[str, Any]]] = defaultdict(dict)
    rows = (
        Sample.objects.filter(experiment__campaign=campaign, trial__is_warmup=False)
        .order_by("pk")
        .values_list(
            "experiment_id", "trial_id", "trial__point", "trial__parameters", "trial__lane_id", "metric", "value",
            "result__flags",
        )
    )  # fmt: skip
    for experiment, trial, point, parameters, lane, metric, value, flags in rows:
        if any(is_invalid(flag, metric) for flag in flags):
            continue
        cell = cells[ends[lane]].setdefault((experiment, point), {"parameters": parameters, "metrics": {}})
        cell["metrics"].setdefault(metric, {})[trial] = value
    return {
        pair: Evidence(
            points=tuple(Point(cell["parameters"], cell["metrics"]) for cell in points.values()),
            path=_path_of(pair),
            facts=_facts_of(pair),
        )
        for pair, points in cells.items()
    }


@transaction.atomic
def decide_finding(*, finding: Finding, user: User, state: Finding.State, reason: str = "") -> Finding:
    """Accept or dismiss a finding; dismissing needs a reason, so that the next reader knows."""
    scoping.require(user, finding.team, Role.OPERATOR)
    if state == Finding.State.DISMISSED and not reason.strip():
        raise FindingNeedsReason
    finding.state = state
    finding.state_reason = reason.strip()
    finding.save(update_fields=["state", "state_reason", "updated_at"])
    return finding


def _path_of(ends: Ends) -> PathFacts:
    if len(ends) != 2:
        return PathFacts()
    nodes = Node.objects.select_related("testbed").in_bulk([node for _role, node in ends])
    path = testbeds.path_between(*(nodes[node] for _role, node in ends))
    return PathFacts(path.capacity_bps, path.rtt_s, path.mtu) if path else PathFacts()


def _facts_of(ends: Ends) -> dict[str, dict[str, Any]]:
    latest = agents.latest_facts([node for _role, node in ends])
    return {role: latest[node] for role, node in ends if node in latest}


def _store(campaign: Campaign, subject: str, draft: FindingDraft) -> Finding:
    data = draft.as_json()
    finding, _created = Finding.objects.update_or_create(
        campaign=campaign,
        experiment=None,
        subject=subject,
        rule=draft.rule,
        defaults={
            "team_id": campaign.team_id,
            "rule_version": draft.version,
            "title": data["title"],
            "details": data,
            "value": draft.value,
            "unit": draft.unit,
            "change": draft.change,
            "undo": draft.undo,
            "confidence": draft.confidence,
        },
    )
    finding.trials.set(draft.evidence)
    return finding
