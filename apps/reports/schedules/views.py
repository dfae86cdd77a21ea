"""Pages of schedules."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import rights
from apps.accounts.pages import CreatePage, DeletePage, DetailPage, ListPage, TeamPage, UpdatePage
from apps.campaigns.views.dates import show_dates
from apps.core import messages as stored
from apps.core.limits.policies import LimitExceededError
from apps.reports.models import Delivery, Schedule
from apps.reports.schedules import queries, services
from apps.reports.schedules.forms import ScheduleForm


class SchedulePage(TeamPage):
    """What all pages of schedules share."""

    model: Any = Schedule
    url_base = "schedules:schedule"

    def narrow(self, rows: QuerySet) -> QuerySet:
        """Return the schedules of the person's teams with what lists show."""
        return queries.schedules_for(rights.user_of(self.request))


class ScheduleList(SchedulePage, ListPage):
    """The schedules."""

    template_name = "reports/schedules/list.html"
    sortable = ("name", "next_at")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the names of states."""
        context = super().get_context_data(**kwargs)
        for item in context["object_list"]:
            item.last_label = Delivery.State(item.last_state).label if item.last_state else ""
        return context


class ScheduleDetail(SchedulePage, DetailPage):
    """A schedule and what it delivered."""

    template_name = "reports/schedules/detail.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the recipients and the latest deliveries."""
        return super().get_context_data(**kwargs) | _recipients(self.object) | _deliveries(self.object, self.request)


class ScheduleWriting(SchedulePage):
    """What the two forms share."""

    form_class: Any = ScheduleForm
    template_name: Any = "reports/schedules/form.html"

    def save(self, form: ScheduleForm) -> Schedule:
        """Keep what the form says."""
        return services.save_schedule(schedule=form.instance, user=form.user, now=timezone.now(), **form.cleaned_data)


class ScheduleCreate(ScheduleWriting, CreatePage):
    """A new schedule, of the report or the series that the address names."""

    def get_initial(self) -> dict[str, Any]:
        """Choose what the address names."""
        initial = {name: self.request.GET.get(name, "") for name in ("report", "series")}
        return super().get_initial() | {name: pk for name, pk in initial.items() if pk.isdecimal() and pk.isascii()}

    def perform_create(self, form: ScheduleForm) -> Schedule:
        """Store the schedule that the form describes."""
        return self.save(form)


class ScheduleUpdate(ScheduleWriting, UpdatePage):
    """A schedule changed."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add how the recipients stand that it has."""
        return super().get_context_data(**kwargs) | _recipients(self.object)

    def perform_update(self, form: ScheduleForm) -> Schedule:
        """Save it."""
        return self.save(form)


class ScheduleDelete(SchedulePage, DeletePage):
    """A schedule deleted."""

    def perform_delete(self, instance: Schedule) -> None:
        """Delete it; its editions stay."""
        services.delete_schedule(schedule=instance, user=rights.user_of(self.request))


@login_required
@require_GET
def deliveries(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how the deliveries go."""
    schedule = get_object_or_404(queries.schedules_for(rights.user_of(request)), pk=pk)
    return render(
        request, "reports/schedules/_deliveries.html", {"object": schedule} | _deliveries(schedule, request)
    )


@login_required
@require_POST
def deliver(request: HttpRequest, pk: int) -> HttpResponse:
    """Deliver now, out of turn."""
    return _carried_out(request, pk, services.deliver_now, _("The delivery has begun; this page shows how it goes."))


@login_required
@require_POST
def ask(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask those recipients again who have not answered."""
    return _carried_out(request, pk, services.ask_again, _("They are being asked; load this page again to see it."))


@login_required
@require_GET
def dates(request: HttpRequest) -> HttpResponse:
    """Show the next dates of a cron expression in a time zone, or why it is refused."""
    return show_dates(request, check=services.check_dates, template="reports/schedules/_dates.html")


def _carried_out(request: HttpRequest, pk: int, act: Callable[..., object], success: str) -> HttpResponse:
    """Carry out something with a schedule and say on its page how that went."""
    user = rights.user_of(request)
    schedule = get_object_or_404(queries.schedules_for(user), pk=pk)
    try:
        act(schedule=schedule, user=user, now=timezone.now())
    except ValidationError as error:
        for text in error.messages:
            messages.error(request, text)
    except LimitExceededError as error:
        messages.error(request, stored.render(error.message))
    else:
        messages.success(request, success)
    return redirect(schedule)


def _deliveries(schedule: Schedule, request: HttpRequest) -> dict[str, Any]:
    latest = queries.deliveries_of(schedule, rights.user_of(request))
    return {"deliveries": latest, "under_way": any(delivery.is_moving for delivery in latest)}


def _recipients(schedule: Schedule) -> dict[str, Any]:
    recipients, now = queries.recipients_of(schedule), timezone.now()
    return {"recipients": recipients, "may_ask": any(one.may_be_asked(now) for one in recipients)}
