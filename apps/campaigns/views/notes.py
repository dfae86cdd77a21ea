"""The part of a campaign's page with its tags and notes."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import rights
from apps.accounts.models import Role, User
from apps.campaigns.models import Campaign, Note
from apps.campaigns.queries import notes as queries
from apps.campaigns.services import notes as services
from apps.campaigns.views.campaigns import find_campaign
from apps.core import editing
from apps.core.versions import lock_row

# The latest ones; a note may be long.
NOTES_PER_PAGE = 20


@login_required
@require_GET
def notes(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial with tags and notes."""
    return _part(request, find_campaign(request, pk))


@login_required
@require_POST
def tags(request: HttpRequest, pk: int) -> HttpResponse:
    """Give the campaign the tags that were typed, parted by commas."""
    campaign = find_campaign(request, pk)
    typed = request.POST.get("tags", "").split(",")

    def shown() -> dict[str, object]:
        campaign.refresh_from_db(fields=["tags"])
        return {"tags": campaign.tags}

    return _do(
        request, campaign, lambda user: services.set_tags(campaign=campaign, user=user, tags=typed), campaign, shown
    )


@login_required
@require_POST
def add(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a note."""
    campaign = find_campaign(request, pk)
    text = request.POST.get("text", "")
    return _do(request, campaign, lambda user: services.add_note(campaign=campaign, user=user, text=text))


@login_required
@require_POST
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Change what a note says."""
    note = _note(request, pk)
    text = request.POST.get("text", "")

    def shown() -> dict[str, object]:
        note.refresh_from_db(fields=["text"])
        return {"text": note.text}

    return _do(
        request, note.campaign, lambda user: services.change_note(note=note, user=user, text=text), note, shown
    )


@login_required
@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a note; the page asks first."""
    note = _note(request, pk)
    return _do(request, note.campaign, lambda user: services.delete_note(note=note, user=user))


def _note(request: HttpRequest, pk: int) -> Note:
    return get_object_or_404(queries.notes_for(rights.user_of(request)), pk=pk)


@transaction.atomic
def _do(
    request: HttpRequest,
    campaign: Campaign,
    action: Callable[[User], object],
    row: Campaign | Note | None = None,
    form_values: Callable[[], dict[str, object]] | None = None,
) -> HttpResponse:
    """Do it and return the part as it then is; with what is wrong, and what was typed, if that was refused.

    What a form showed of a row (`form_values`, by field) and somebody changed since is not undone unseen.
    """
    user = rights.user_of(request)
    if row is not None and form_values is not None:
        # As all that changes a campaign, or what belongs to it, does.
        lock_row(campaign)
        if conflict := editing.page_conflict(request, row, form_values(), name=str(campaign)):
            sent = [(name, request.POST[name]) for name in ("tags", "text", editing.VERSION) if name in request.POST]
            return _part(request, campaign, conflict=conflict, sent=sent, path=request.path)
    try:
        action(user)
    except ValidationError as error:
        typed = {name: request.POST[name] for name in ("tags", "text") if name in request.POST}
        return _part(request, campaign, errors=error.messages, typed=typed)
    if row is not None:
        editing.note_change(row, user.get_username())
    return _part(request, Campaign.objects.select_related("team").get(pk=campaign.pk))


def _part(request: HttpRequest, campaign: Campaign, **more: Any) -> HttpResponse:
    user = rights.user_of(request)
    role = rights.role_in(user, campaign.team)
    can_write = rights.suffices(role, Role.OPERATOR)
    latest = campaign.notes.select_related("created_by").order_by("-created_at", "-pk")
    page = Paginator(latest, NOTES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "can_write": can_write,
        "page": page,
        "notes": [(note, services.may_change(note, user, role)) for note in reversed(page.object_list)],
        "known_tags": queries.tags_of(campaign.team, user) if can_write else [],
        **more,
    }
    return render(request, "campaigns/_notes.html", context)
