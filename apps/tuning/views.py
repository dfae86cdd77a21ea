"""Pages of findings: what to change, why, on which trials that rests, and whether measuring again bore it out."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import rights
from apps.accounts.models import Role
from apps.bench.sweep.verification import LOOKS
from apps.campaigns import queries as campaigns
from apps.core import editing
from apps.core.versions import lock_row
from apps.tuning import answers, contrasts, proposals, queries, readers, services, untold
from apps.tuning.analysis import queries as analyses
from apps.tuning.models import Finding

# Trials of the evidence that a page lists; the record has all.
MOST_TRIALS = 200


@login_required
@require_GET
def finding_list(request: HttpRequest) -> HttpResponse:
    """List the findings of the user's teams, by state, kind and rule if asked, with predicted and realised gains."""
    user = rights.user_of(request)
    findings = queries.listed_for(user)
    rules = list(findings.order_by("rule").values_list("rule", flat=True).distinct())
    texts = {name: request.GET.get(name, "") for name in ("state", "kind", "rule")}
    options = {"state": Finding.State.values, "kind": Finding.Kind.values, "rule": rules}
    filters = {name: value for name, value in texts.items() if value in options[name]}
    listed = queries.standing(findings.filter(**filters), filters.get("state", ""))
    page = Paginator(listed, 50).get_page(request.GET.get("page"))
    page.object_list = readers.as_read_by(page.object_list, user)
    queries.attach_ends(page.object_list)
    queries.attach_flags(page.object_list)
    queries.attach_values(page.object_list)
    rights.attach_foreign_teams(page.object_list, user)
    context = {
        "page_obj": page,
        "states": Finding.State.choices,
        "kinds": Finding.Kind.choices,
        "rules": rules,
        **{name: filters.get(name, "") for name in texts},
        "calibration": queries.calibration_for(user),
        "standings": analyses.unfinished_for(user),
    }
    return render(request, "tuning/list.html", context)


@login_required
@require_GET
def finding_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a finding with its evidence, what would prove it, what came of that, and its history."""
    user = rights.user_of(request)
    (finding,) = readers.as_read_by([get_object_or_404(queries.findings_for(user), pk=pk)], user)
    queries.attach_ends([finding])
    queries.attach_flags([finding])
    trials = finding.trials.select_related("experiment").order_by("experiment", "point", "repetition")
    offers = proposals.offers_of(finding)
    tests = {offer.key: offer for offer in offers if offer.key.startswith("a")}
    context = {
        "finding": finding,
        "trials": trials[:MOST_TRIALS],
        "trial_count": trials.count(),
        "raised": queries.flags_behind(finding, [trial.pk for trial in trials[:MOST_TRIALS]]),
        "can_write": rights.can(request.user, finding.team, Role.OPERATOR),
        "offers": [offer for offer in offers if offer.key.startswith("p")],
        "alternatives": [
            (item, tests.get(f"a{place}")) for place, item in enumerate(finding.details.get("alternatives") or [])
        ],
        "decisions": queries.history_of(finding, user),
        "looks": LOOKS,
        **_verifications(finding),
        **_proof(finding),
    }
    return render(request, "tuning/detail.html", context)


@login_required
@require_GET
def verifications(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial with what came of a finding's verifications, which the page fetches while one is open."""
    finding = get_object_or_404(queries.findings_for(rights.user_of(request)), pk=pk)
    return render(request, "tuning/_verifications.html", {"finding": finding, **_verifications(finding)})


@login_required
@require_GET
def campaign_panel(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial with a campaign's findings, or with the finding that it verifies, that its page loads."""
    user = rights.user_of(request)
    every = queries.findings_for(user).filter(campaign_id=pk)
    findings = queries.by_use(readers.as_read_by(queries.standing(every), user))
    queries.attach_ends(findings)
    queries.attach_flags(findings)
    campaign = campaigns.campaigns_for(user).select_related("team").filter(pk=pk).first()
    standing = analyses.standing_of(campaign) if campaign and campaign.launched_at else None
    context: dict[str, Any] = {
        "findings": findings,
        "refuted": queries.standing(every, Finding.State.REFUTED),
        "verification": queries.verification_of(pk, user),
        "standing": standing,
        "beside": analyses.waiting_beside(standing, timezone.now()) if standing else 0,
        "can_write": campaign is not None and rights.can(user, campaign.team, Role.OPERATOR),
    }
    if campaign and not findings:
        context["silent"] = untold.silent_for_a_page(campaign)
    return render(request, "tuning/_panel.html", context)


@login_required
@require_POST
@transaction.atomic
def decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept a finding, dismiss it with a reason, or open it again."""
    finding = get_object_or_404(queries.findings_for(rights.user_of(request)), pk=pk)
    rights.require(request.user, finding.team, Role.OPERATOR)
    state = request.POST.get("state", "")
    if state not in Finding.DECISIONS:
        messages.error(request, _("Choose accept, dismiss or open again."))
        return redirect("tuning:detail", pk=pk)
    lock_row(finding)
    finding.refresh_from_db(fields=["state", "state_reason"])
    values, texts = {"state": finding.state, "reason": finding.state_reason}, {"state": finding.get_state_display()}
    if conflict := editing.page_conflict(request, finding, values, texts=texts):
        return editing.conflict_page(request, conflict)
    try:
        services.decide_finding(
            finding=finding,
            user=rights.user_of(request),
            state=Finding.State(state),
            reason=request.POST.get("reason", ""),
        )
    except services.FindingNeedsReason:
        messages.error(request, _("Say why the finding is dismissed, so that the next reader knows."))
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        editing.note_change(finding, rights.user_of(request).get_username())
        messages.success(request, _("The finding is kept as “%(state)s”.") % {"state": finding.get_state_display()})
    return redirect("tuning:detail", pk=pk)


@login_required
@require_POST
def verify(request: HttpRequest, pk: int) -> HttpResponse:
    """Launch the campaign that puts a finding to the test, and show it."""
    user = rights.user_of(request)
    finding = get_object_or_404(queries.findings_for(user), pk=pk)
    return answers.show_campaign(
        request,
        lambda: services.verify_finding(finding=finding, user=user, now=timezone.now()).campaign_id,
        _("Both settings are measured in turn now, until the interval of the gain decides."),
        reverse("tuning:detail", args=[pk]),
    )


@login_required
@require_POST
def draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a draft campaign of what a finding proposes, and show it."""
    user = rights.user_of(request)
    finding = get_object_or_404(queries.findings_for(user), pk=pk)
    key = request.POST.get("key", proposals.ALL)
    return answers.show_draft(
        request,
        lambda: proposals.create_draft(finding=finding, user=user, key=key, now=timezone.now()).pk,
        reverse("tuning:detail", args=[pk]),
    )


def _verifications(finding: Finding) -> dict[str, object]:
    """Return the finding's verifications, with the progress of those under way."""
    listed = list(finding.verifications.all())
    under_way = [item.campaign for item in listed if item.campaign and item.verdict == item.Verdict.OPEN]
    if under_way:
        campaigns.attach_progress(under_way)
    return {"verifications": listed, "is_open": bool(under_way)}


def _proof(finding: Finding) -> dict[str, object]:
    """Return how the finding would be proved, or why it can not be, and whose leave is missing."""
    try:
        contrast = contrasts.contrast_of(finding)
    except ValidationError as error:
        return {"unprovable": error.messages}
    return {"contrast": contrast, "grants": contrasts.missing_grants(contrast)}
