"""The page of a team's rules of retention: first what would go, then, where that is wanted, the rules."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.accounts import rights
from apps.accounts.models import Role, Team
from apps.archive.models import RetentionRule
from apps.archive.retention import queries, services
from apps.archive.retention.forms import RetentionForm, initial_of, shown_of
from apps.core import editing
from apps.core.versions import lock_row


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@transaction.atomic
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the rules; a form that is sent shows what would go, and is kept once that was seen (the field `seen`)."""
    team = get_object_or_404(rights.visible(Team.objects.all(), request.user, path="pk"), slug=slug.replace("\0", ""))
    if request.method == "POST":
        rights.require(request.user, team, Role.MANAGER)
        lock_row(team)
    by_kind = {rule.kind: rule for rule in RetentionRule.objects.filter(team=team).select_related("changed_by")}
    context = {"team": team, "rules": by_kind.values(), "can_write": rights.can(request.user, team, Role.MANAGER)}
    if request.method != "POST":
        form = editing.guard(RetentionForm(initial=initial_of(by_kind)), shown_of(by_kind))
        return render(request, "results/retention.html", {**context, "form": form})
    form = editing.guard(RetentionForm(request.POST), shown_of(by_kind))
    if editing.refuse_stale(form, team) or not form.is_valid():
        status = 409 if form.conflict else 422
        return render(request, "results/retention.html", {**context, "form": form}, status=status)
    digest = repr(sorted(form.wishes.items()))
    if request.POST.get("seen") == digest:
        for kind, (days, action) in form.wishes.items():
            services.set_rule(team=team, user=rights.user_of(request), kind=kind, days=days, action=action)
        editing.note_change(team, rights.user_of(request).get_username())
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
    return render(request, "results/retention.html", {**context, "form": form, "seen": digest, "previews": previews})
