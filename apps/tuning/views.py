"""Pages of findings: what to change, why, and on which trials that rests."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import scoping
from apps.accounts.models import Role
from apps.tuning import queries, services
from apps.tuning.models import Finding


@login_required
@require_GET
def finding_list(request: HttpRequest) -> HttpResponse:
    """List the findings of the user's teams, by state if asked."""
    findings = queries.findings_for(scoping.user_of(request))
    state = request.GET.get("state", "")
    if state in Finding.State.values:
        findings = findings.filter(state=state)
    page = Paginator(findings, 50).get_page(request.GET.get("page"))
    return render(request, "tuning/list.html", {"page_obj": page, "states": Finding.State.choices, "state": state})


@login_required
@require_GET
def finding_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a finding with its evidence."""
    finding = get_object_or_404(queries.findings_for(scoping.user_of(request)), pk=pk)
    context = {
        "finding": finding,
        "trials": finding.trials.select_related("experiment").order_by("experiment", "point", "repetition"),
        "can_write": scoping.can(request.user, finding.team, Role.OPERATOR),
    }
    return render(request, "tuning/detail.html", context)


@login_required
@require_GET
def campaign_panel(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial with a campaign's findings that its page loads."""
    findings = queries.findings_for(scoping.user_of(request)).filter(campaign_id=pk)
    return render(request, "tuning/_panel.html", {"findings": findings})


@login_required
@require_POST
def decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept a finding, dismiss it with a reason, or open it again."""
    finding = get_object_or_404(queries.findings_for(scoping.user_of(request)), pk=pk)
    scoping.require(request.user, finding.team, Role.OPERATOR)
    state = request.POST.get("state", "")
    if state not in Finding.State.values:
        messages.error(request, _("Choose accept, dismiss or open again."))
        return redirect("tuning:detail", pk=pk)
    try:
        services.decide_finding(
            finding=finding,
            user=scoping.user_of(request),
            state=Finding.State(state),
            reason=request.POST.get("reason", ""),
        )
    except services.FindingNeedsReason:
        messages.error(request, _("Say why the finding is dismissed, so that the next reader knows."))
    else:
        messages.success(request, _("The finding is kept as “%(state)s”.") % {"state": finding.get_state_display()})
    return redirect("tuning:detail", pk=pk)
