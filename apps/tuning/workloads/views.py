"""Page: describe a workload, see which file system serves it, and draft the campaign that measures just that."""

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import rights
from apps.accounts.models import Role
from apps.tuning import answers
from apps.tuning.workloads import queries, services
from apps.tuning.workloads.forms import WorkloadForm


@login_required
@require_GET
def workload(request: HttpRequest) -> HttpResponse:
    """Show the form, and once it is sent the configurations, the best first; its address can be shared."""
    user = rights.user_of(request)
    form = WorkloadForm(request.GET or None, user=user)
    context: dict[str, object] = {"form": form}
    if not form.is_bound:
        return render(request, "tuning/workload.html", context)
    if not form.is_valid():
        return render(request, "tuning/workload.html", context, status=422)
    team = form.cleaned_data["team"]
    fits, failure = queries.fits_of(team, form.workload())
    context |= {
        "fits": fits,
        "marked": queries.marked(fits),
        "failure": failure,
        "can_write": rights.can(user, team, Role.OPERATOR),
        "query": request.GET.urlencode(),
    }
    return render(request, "tuning/workload.html", context)


@login_required
@require_POST
def draft(request: HttpRequest) -> HttpResponse:
    """Make a draft of the campaign that measures the described workload on one configuration."""
    user = rights.user_of(request)
    if not rights.teams_for(user, Role.OPERATOR).exists():
        raise PermissionDenied(_("A draft needs the role of an operator in a team: ask a manager of the team."))
    form = WorkloadForm(request.GET, user=user)
    address = f"{reverse('tuning:workload')}?{request.GET.urlencode()}"
    if not form.is_valid():
        return redirect(address)
    team = form.cleaned_data["team"]
    rights.require(user, team, Role.OPERATOR)
    fits, _failure = queries.fits_of(team, form.workload())
    return answers.show_draft(
        request,
        lambda: (
            services.draft_fit(
                team=team,
                fits=fits,
                place=answers.place_of(request.POST.get("fit", "")),
                user=user,
                now=timezone.now(),
            ).pk
        ),
        address,
    )
