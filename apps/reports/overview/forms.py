"""The form of a management report: which period, which sites, in which language."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.forms import TeamForm
from apps.campaigns.models import Campaign
from apps.core import messages, moments
from apps.reports.models import Report
from apps.reports.overview.selection import DATES, LAST_MONTH, PERIODS, THIS_MONTH, Selection, wrong_days
from apps.testbeds.models import Site


class SitesField(forms.ModelMultipleChoiceField):
    """Sites of the team; none are all of them."""

    def __init__(self) -> None:
        super().__init__(
            Site.objects.order_by("name"),
            required=False,
            label=gettext_lazy("Sites"),
            widget=forms.CheckboxSelectMultiple,
            help_text=gettext_lazy("Only what was measured with a node at one of them; none chosen are all."),
        )


class ManagementForm(TeamForm):
    """Title, period, sites and language of a report over many campaigns."""

    period = forms.ChoiceField(
        label=gettext_lazy("Period"),
        choices=PERIODS,
        help_text=gettext_lazy("Months move with the calendar: a scheduled report is always over the latest."),
    )
    first = forms.DateField(
        label=gettext_lazy("First day"),
        required=False,
        validators=[moments.check_day],
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    last = forms.DateField(
        label=gettext_lazy("Last day"),
        required=False,
        validators=[moments.check_day],
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    sites = SitesField()
    field_order = ["title", "language", "period", "first", "last", "sites"]

    class Meta:
        model = Report
        fields = ["title", "language"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["title"].required = True
        if self.instance.pk is None:
            self.initial.setdefault("title", _("Measurements of %(team)s") % {"team": self.team.name})
            self.initial.setdefault("language", (translation.get_language() or settings.LANGUAGE_CODE)[:2])
            self.initial.setdefault("period", self._usual_period())
        else:
            # A report stays in its language: its editions and its author's words are in it.
            self.fields["language"].disabled = True
            selection = Selection.of(self.instance.selection)
            for name in ("period", "first", "last", "sites"):
                self.initial[name] = getattr(selection, name)

    def clean(self) -> dict[str, Any] | None:
        """Ask for both days where days are chosen, in their order."""
        cleaned = super().clean() or {}
        if cleaned.get("period") == DATES:
            for name, message in wrong_days(cleaned.get("first"), cleaned.get("last")).items():
                if name not in self.errors:
                    self.add_error(name, messages.render(message))
        return cleaned

    @property
    def selection(self) -> Selection:
        """Return what was chosen; the days begin in the time zone of whoever chose."""
        cleaned = self.cleaned_data
        return Selection(
            period=cleaned["period"],
            first=cleaned.get("first"),
            last=cleaned.get("last"),
            sites=tuple(sorted(site.pk for site in cleaned["sites"])),
            timezone=self._zone,
        )

    @property
    def _zone(self) -> str:
        return self.user.timezone if self.user.timezone in moments.zones() else "UTC"

    def _usual_period(self) -> str:
        """Return the last month, or this one for a team that began in it: there is nothing else to report on yet."""
        month = Selection(period=LAST_MONTH, timezone=self._zone).period_at(timezone.now()).end
        return LAST_MONTH if Campaign.objects.filter(team=self.team, launched_at__lt=month).exists() else THIS_MONTH
