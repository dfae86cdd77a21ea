"""The first page and the part of it that takes longer."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.accounts import quotas, rights, team_choice
from apps.accounts.models import Role, User
from apps.core import live_parts
from apps.core.search import ListSearch
from apps.home import activity, changes, first_steps, lookup, needs
from apps.tuning import queries as tuning
from apps.tuning.models import Finding

# Of the newest so many findings those with the greatest gains are shown.
NEWEST_FINDINGS = 50
SHOWN_FINDINGS = 5


@never_cache
@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show what needs the person, what runs, what was found and what comes next, and keep that up to date."""
    user, now = rights.user_of(request), timezone.now()
    if not rights.teams_for(user, Role.VIEWER).exists():
        return render(request, "testbeds/no_team.html")
    under_way = activity.activity_of(user, now)
    guide = first_steps.guide_for(user)
    listed = needs.needs_of(user, under_way.waits, now)
    context = {
        "live_heading": _heading(guide, listed),
        "guide": guide,
        "activity": under_way,
        "needs": listed,
        "dates": activity.coming_dates(user, now),
        "findings": _findings(user),
        "usages": quotas.usages_of(rights.teams_for(user, Role.VIEWER)),
        "team": team_choice.usual_team(user),
        "can_write": rights.teams_for(user, Role.OPERATOR).exists(),
    }
    return live_parts.answer(request, "home/_live.html", "home/home.html", context, every="10s")


@login_required
@require_safe
def recent_changes(request: HttpRequest) -> HttpResponse:
    """Return the partial with the changes of the last days, which the page loads once it stands."""
    context = {
        "changes": changes.recent_changes(rights.user_of(request), timezone.now()),
        "days": changes.RECENT.days,
    }
    return render(request, "home/_changes.html", context)


@login_required
@require_safe
def lookup_hits(request: HttpRequest) -> HttpResponse:
    """Return the partial with what is called as was typed, of everything that the person sees."""
    text = request.GET.get("q", "")
    context = {"groups": lookup.hits_for(request, text), "error": ListSearch(text).error}
    return render(request, "home/_hits.html", context)


def _heading(guide: first_steps.Guide, listed: list[needs.Need]) -> str:
    if listed:
        return ngettext("%(n)s thing needs you", "%(n)s things need you", len(listed)) % {"n": len(listed)}
    return _("From nothing to a verified finding") if guide.is_first else _("Nothing needs you")


def _findings(user: User) -> list[Finding]:
    """Return the newest recommendations that stand, those with the greatest gain first."""
    listed = tuning.standing(tuning.listed_for(user)).filter(kind=Finding.Kind.RECOMMENDATION)
    newest = listed.exclude(state=Finding.State.DISMISSED).order_by("-created_at", "-pk")[:NEWEST_FINDINGS]
    rows = sorted(newest, key=lambda finding: -(finding.predicted_gain or 0.0))[:SHOWN_FINDINGS]
    tuning.attach_ends(rows)
    tuning.attach_flags(rows)
    rights.attach_foreign_teams(rows, user)
    return rows
