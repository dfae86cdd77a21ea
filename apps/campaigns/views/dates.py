"""The next dates of a cron expression, shown while one types it."""

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
    cron, zone = request.GET.get("cron", "").strip()[:100], request.GET.get("cron_timezone", "").strip()[:64]
    now = timezone.now()
    context: dict[str, object] = {}
    if cron:
        try:
            schedules.check_schedule(cron=cron, timezone=zone or "UTC", now=now)
            context["dates"] = schedules.next_dates(cron=cron, timezone=zone or "UTC", after=now)
        except errors.Refused as refused:
            context["refusals"] = refused.messages
    return render(request, "campaigns/_dates.html", context)
