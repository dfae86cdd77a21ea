"""What a launch would start, shown and asked for; and started, if it still is what was shown."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import rights
from apps.accounts.models import Role
from apps.campaigns import definitions, errors, queries, services
from apps.campaigns.models import Campaign
from apps.campaigns.turns import sweep_turn
from apps.campaigns.views.campaigns import find_campaign, steer
from apps.core import editing


@login_required
@require_GET
def confirm_launch(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what a launch will do, and ask."""
    return _page(request, find_campaign(request, pk))


@login_required
@require_POST
def launch(request: HttpRequest, pk: int) -> HttpResponse:
    """Start a draft, or schedule it; where it is not what was shown, show what it now is instead (409)."""
    digest = request.POST.get("digest", "")
    try:
        done = _("The campaign is launched.")
        # It is launched when its turn has come.
        with sweep_turn(rights.user_of(request)):
            return steer(request, pk, services.launch_campaign, done, now=timezone.now(), digest=digest)
    except errors.NotAsConfirmed:
        return _page(request, find_campaign(request, pk), version=request.POST.get(editing.VERSION, ""), status=409)


def _page(request: HttpRequest, campaign: Campaign, version: str | None = None, status: int = 200) -> HttpResponse:
    """Show what a launch will do; with the `version` that was shown before, also what is no longer as it was then."""
    rights.require(request.user, campaign.team, Role.OPERATOR)
    context: dict[str, Any] = {"campaign": campaign}
    try:
        with sweep_turn(rights.user_of(request)):
            expanded = services.expand_campaign(campaign)
            parts = definitions.parts_of(campaign, expanded)
            expansions = [expansion for _experiment, expansion in expanded]
            context["preview"] = queries.preview_campaign(campaign, expansions, now=timezone.now())
            context |= {"digest": definitions.digest_of(parts), "version": editing.version_of(parts)}
    except ValidationError as error:
        parts = {}
        context["refusals"] = error.messages
    if version is not None:
        context |= {"is_changed": True, "changes": _changes(campaign, editing.differing(version, parts))}
    return render(request, "campaigns/launch.html", context, status=status)


def _changes(campaign: Campaign, names: Iterable[str]) -> list[str]:
    """Return what is no longer as it was, each once, as a reader knows it."""
    labels = {
        "definition": _("parameters and order"),
        "effort": _("repetitions, attempts and limits"),
        "points": _("points"),
        "roles": _("nodes"),
    }
    general = {definitions.DATES: _("The dates"), "limits": _("The limits of the links")}
    experiments = {str(pk): name for pk, name in campaign.experiments.values_list("pk", "name")}
    changes: dict[str, list[str]] = {}
    for name in names:
        experiment, _dot, part = name.partition(".")
        if part:
            changes.setdefault(experiments.get(experiment, _("An experiment that is gone")), []).append(labels[part])
        else:
            changes.setdefault(general[name], [])
    return [f"{name}: {', '.join(parts)}" if parts else name for name, parts in changes.items()]
