"""What was concluded in a period and what came of it: findings open, accepted and verified, with realised gains."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, When
from django.db.models.functions import Abs, Ln

from apps.campaigns.models import Campaign
from apps.campaigns.queries.visibility import for_whole_team, told_to_whole_team
from apps.reports.overview.scope import Scope
from apps.tuning.models import Finding, Verification

# So many of each are listed; the page of findings has all.
MOST = 20
# What an archive says was verified or refuted where it comes from.
ELSEWHERE = "elsewhere"
State = Finding.State


@dataclass(frozen=True)
class Conclusions:
    """Recommendations by state; of each list the first, and how many there are in all.

    Of those that were verified or refuted `states` has what was measured here; the others are counted as `ELSEWHERE`.
    """

    states: Counter[str]
    open: list[Finding]
    accepted: list[Finding]
    verified: list[Verification]
    verified_count: int

    @property
    def best(self) -> Verification | None:
        """Return the verification with the largest gain."""
        return next(iter(self.verified), None)


def read(scope: Scope) -> Conclusions:
    """Return the recommendations drawn from the campaigns of the scope, and what was verified in the period."""
    findings = Finding.objects.filter(
        campaign__in={lane.campaign for lane in scope.lanes.values()}, kind=Finding.Kind.RECOMMENDATION
    )
    states = _states(findings)
    verified = _verified(scope)
    return Conclusions(
        states=states,
        open=_first(findings.filter(state=State.NEW)),
        accepted=_first(findings.filter(state=State.ACCEPTED)),
        verified=list(verified[:MOST]),
        verified_count=verified.count(),
    )


def _states(findings: QuerySet[Finding]) -> Counter[str]:
    """Return how many findings are in each state; what an archive says was measured elsewhere is counted apart."""
    counts = Counter(dict(findings.order_by().values_list("state").annotate(Count("pk"))))
    here = Verification.objects.filter(finding=OuterRef("pk"), imported_from="", verdict=OuterRef("state"))
    elsewhere = findings.filter(state__in=(State.VERIFIED, State.REFUTED)).exclude(imported_from="")
    for state, number in elsewhere.exclude(Exists(here)).order_by().values_list("state").annotate(Count("pk")):
        counts[state] -= number
        counts[ELSEWHERE] += number
    return counts


def _first(findings: QuerySet[Finding]) -> list[Finding]:
    """Return those that promise most, of rates and of times alike, the surest of equal ones first."""
    size = Abs(Ln("predicted_gain"))
    ordered = findings.annotate(size=Case(When(predicted_gain__gt=0, then=size)))
    rows = ordered.select_related("campaign", "experiment").order_by(
        F("size").desc(nulls_last=True), "-confidence", "pk"
    )
    return list(rows[:MOST])


def _verified(scope: Scope) -> QuerySet[Verification]:
    """Return what was verified here in the period, the largest gain first; of a scope of some sites what is of it."""
    whole = Campaign.objects.filter(for_whole_team(), team=scope.team, deleting_at=None)
    rows = Verification.objects.filter(
        told_to_whole_team(),
        verdict=Verification.Verdict.VERIFIED,
        finding__kind=Finding.Kind.RECOMMENDATION,
        imported_from="",
        judged_at__gte=scope.period.start,
        judged_at__lt=scope.period.end,
        gain__gt=0,
        finding__campaign__in=whole,
    )
    if scope.sites:
        campaign_ids = {lane.campaign for lane in scope.lanes.values()}
        rows = rows.filter(Q(campaign__in=campaign_ids) | Q(finding__campaign__in=campaign_ids))
    return (
        rows.annotate(size=Abs(Ln("gain")))
        .select_related("finding__campaign", "finding__experiment", "campaign")
        .order_by("-size", "pk")
    )
