"""References to findings: "finding:CAMPAIGN/RULE/EXPERIMENT/SUBJECT", nodes by their names.

What becomes of verifications when a campaign goes is said here, too, and of findings that name it when it goes or
others may see it: this is what campaigns import at the start.
"""

from collections.abc import Collection, Sequence
from urllib.parse import quote

from django.db.models import Model
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.campaigns.references import ReferenceKind, register
from apps.campaigns.services import deletion, sharing
from apps.testbeds.models import Node
from apps.tuning import evidence
from apps.tuning.analysis import services as analyses
from apps.tuning.digests import conclusions_digest
from apps.tuning.models import Finding
from apps.tuning.services.verification import end_verifications

# Stands for the experiment of a finding on a whole campaign.
NONE = "-"
NAME = "finding"


def references_of(findings: Sequence[Finding]) -> list[str]:
    """Return the reference of each finding, with one query for all."""
    node_ids = {node for finding in findings for _role, node in finding.ends}
    names = dict(Node.objects.filter(pk__in=node_ids).values_list("pk", "name"))
    return [f"{NAME}:{finding.campaign.permanent_id}/{_written(finding, names)}" for finding in findings]


def _campaign(finding: Model) -> Campaign:
    assert isinstance(finding, Finding)
    return finding.campaign


def _write(finding: Model) -> str:
    assert isinstance(finding, Finding)
    names = dict(Node.objects.filter(pk__in=[node for _role, node in finding.ends]).values_list("pk", "name"))
    return _written(finding, names)


def _written(finding: Finding, names: dict[int, str]) -> str:
    ends = [f"{role}={quote(names.get(node, '?'), safe='')}" for role, node in finding.ends]
    subject = finding.details.get("subject", "")
    place = NONE if finding.experiment is None else finding.experiment.position
    return f"{finding.rule}/{place}/{','.join([*ends, *([quote(subject, safe='')] if subject else [])])}"


def _find(campaign: Campaign, rest: str) -> str | None:
    findings = list(campaign.findings.filter(rule=rest.partition("/")[0]).select_related("experiment"))
    node_ids = {node for finding in findings for _role, node in finding.ends}
    names = dict(Node.objects.filter(pk__in=node_ids).values_list("pk", "name"))
    named = next((finding for finding in findings if _written(finding, names) == rest), None)
    return reverse("tuning:detail", args=[named.pk]) if named else None


def _ask_others(campaigns: Collection[Campaign]) -> None:
    analyses.ask_again(campaign_ids=evidence.hearing_of(*campaigns))


register(ReferenceKind(name=NAME, model=Finding, campaign=_campaign, write=_write, find=_find))
deletion.before(end_verifications)
deletion.before(lambda campaign, _now: _ask_others([campaign]))
sharing.after(_ask_others)
deletion.keep_digests(conclusions_digest)
