"""The page of a team's rules of retention: first what would go, then, where that is wanted, the rules."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.accounts import scoping
from apps.accounts.models import Role, Team
from apps.results.models import RetentionRule
from apps.results.retention import queries, services
from apps.results.retention.forms import RetentionForm, initial_of


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the rules; a form that is sent shows what would go, and is kept once that was seen (`seen`)."""
    team = get_object_or_404(
        scoping.visible(Team.objects.all(), request.user, path="pk"), slug=slug.replace("\0", "")
    )
    found = {rule.kind: rule for rule in RetentionRule.objects.filter(team=team).select_related("changed_by")}
    context = {"team": team, "rules": found.values(), "can_write": scoping.can(request.user, team, Role.MANAGER)}
    if request.method != "POST":
        form = RetentionForm(initial=initial_of(found))
        return render(request, "results/retention.html", {**context, "form": form})
    scoping.require(request.user, team, Role.MANAGER)
    form = RetentionForm(request.POST)
    if not form.is_valid():
        return render(request, "results/retention.html", {**context, "form": form}, status=422)
    seen = repr(sorted(form.wishes.items()))
    if request.POST.get("seen") == seen:
        for kind, (days, action) in form.wishes.items():
            services.set_rule(team=team, user=scoping.user_of(request), kind=kind, days=days, action=action)
        messages.success(request, _("The rules are kept, and carried out within the hour."))
        return redirect("retention:rules", slug=team.slug)
    previews = [
        (
            RetentionRule.Kind(kind).label,
            RetentionRule.Action(action).label,
            queries.preview(team=team, kind=kind, days=days, action=action, now=timezone.now()),
        )
        for kind, (days, action) in form.wishes.items()
        if days is not None
    ]
    return render(request, "results/retention.html", {**context, "form": form, "seen": seen, "previews": previews})
