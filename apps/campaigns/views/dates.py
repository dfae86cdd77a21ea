"""The next dates of a cron expression, shown while one types it."""

from collections.abc import Callable

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from apps.campaigns import errors, schedules


@login_required
@require_GET
def preview(request: HttpRequest) -> HttpResponse:
    """Show the dates that a cron expression in a time zone gives, or why it gives none."""
    return show_dates(request, check=schedules.check_schedule, template="campaigns/_dates.html")


def show_dates(request: HttpRequest, *, check: Callable[..., None], template: str) -> HttpResponse:
    """Show the next dates of the expression that a request has, or why `check` refuses it."""
    cron, zone = request.GET.get("cron", "").strip()[:100], request.GET.get("cron_timezone", "").strip()[:64]
    now = timezone.now()
    context: dict[str, object] = {}
    if cron:
        try:
            check(cron=cron, timezone=zone or "UTC", now=now)
            context["dates"] = schedules.next_dates(cron=cron, timezone=zone or "UTC", after=now)
        except errors.Refused as refused:
            context["refusals"] = refused.messages
    return render(request, template, context)
