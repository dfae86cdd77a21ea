"""Pages: a new management report, and what one is over."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.pages import CreatePage, TeamPage, UpdatePage
from apps.reports import services
from apps.reports.models import Report
from apps.reports.overview.forms import ManagementForm
from apps.reports.overview.services import change_selection


class ManagementPage(TeamPage):
    """What both pages share: only management reports are known here."""

    model: Any = Report
    template_name: Any = "reports/management/form.html"
    form_class: Any = ManagementForm
    queryset: Any = Report.objects.filter(kind=Report.Kind.MANAGEMENT).select_related("team")

    def url(self, action: str, **kwargs: object) -> str:
        """Return the address of an action: the list and the page are those of all reports."""
        names = {"list": "reports:list", "detail": "reports:detail", "create": "management:create"}
        return reverse(names[action], kwargs=kwargs or None) if action in names else ""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Call it by its kind."""
        return super().get_context_data(**kwargs) | {"kind": Report.Kind.MANAGEMENT.label}


class ManagementCreate(ManagementPage, CreatePage):
    """A new report over many campaigns."""

    done = _("The report was made: read it, change its words, then freeze it.")

    def perform_create(self, form: ManagementForm) -> Report:
        """Begin the management report that the form describes."""
        return services.begin_management_report(
            team=form.team,
            user=form.user,
            language=form.cleaned_data["language"],
            title=form.cleaned_data["title"],
            selection=form.selection.as_json(),
        )


class ManagementUpdate(ManagementPage, UpdatePage):
    """What a report is over."""

    def perform_update(self, form: ManagementForm) -> Report:
        """Save it."""
        title, selection = form.cleaned_data["title"], form.selection
        return change_selection(report=form.instance, user=form.user, title=title, change=lambda _kept: selection)
