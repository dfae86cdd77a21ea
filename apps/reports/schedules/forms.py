"""The form of a schedule: what is delivered, when, as which files, to whom."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.forms import TeamForm, TimezoneInput
from apps.campaigns.errors import Refused
from apps.reports.files.formats import CHOICES
from apps.reports.models import Schedule
from apps.reports.schedules import queries
from apps.reports.schedules.services import check_recipients

_SEPARATORS = re.compile(r"[\s,;]+")


class RecipientsField(forms.CharField):
    """Mail addresses, one a line or separated by commas."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            max_length=20_000,
            label=gettext_lazy("Mail to"),
            widget=forms.Textarea(attrs={"rows": 3, "placeholder": "name@example.org", "spellcheck": "false"}),
            help_text=gettext_lazy(
                "Addresses, one a line; empty leaves the edition in the report's page. Who is no member of the team "
                "is asked by mail first whether they want it."
            ),
        )

    def prepare_value(self, value: Any) -> Any:
        """Show one address a line."""
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        """Return the addresses, each once."""
        try:
            return check_recipients(_SEPARATORS.split(super().clean(value)))
        except Refused as refused:
            raise ValidationError(refused.messages) from None


class LabelledChoices(forms.MultipleChoiceField):
    """The formats of files; their labels are in the reader's language."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            choices=[(name, gettext_lazy(label)) for name, label in CHOICES],
            label=gettext_lazy("Files"),
            widget=forms.CheckboxSelectMultiple,
            help_text=gettext_lazy(
                "Made of each edition, and attached to the mail as far as they are not too large."
            ),
        )


class ScheduleForm(TeamForm):
    """A schedule of a management report or of a campaign series."""

    formats = LabelledChoices()
    recipients = RecipientsField()
    field_order = [
        "name", "report", "series", "language", "cron", "cron_timezone", "formats", "recipients", "is_active",
    ]  # fmt: skip

    class Meta:
        model = Schedule
        fields = [
            "name", "report", "series", "language", "cron", "cron_timezone", "formats", "recipients", "is_active",
        ]  # fmt: skip
        widgets = {
            "cron": forms.TextInput(attrs={"placeholder": "0 7 1 * *"}),
            "cron_timezone": TimezoneInput(attrs={"autocomplete": "off", "list": "time-zones"}),
        }
        help_texts = {
            "report": gettext_lazy("A report over many campaigns; or choose a series below."),
            "series": gettext_lazy("The report of the latest campaign of a series that has ended."),
            "language": gettext_lazy("Of a series' report; a management report is in its own."),
            "cron": gettext_lazy(
                "Minute, hour, day, month, day of the week; 0 7 1 * * is the first of each month at 07:00."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices: dict[str, Any] = {
            "report": queries.management_reports_for(self.user),
            "series": queries.series_for(self.user),
        }
        for name, rows in choices.items():
            field: Any = self.fields[name]
            field.queryset = rows.filter(team=self.team)
        if self.instance.pk is None:
            self.initial.setdefault("cron_timezone", self.user.timezone)
            self.initial.setdefault("language", (translation.get_language() or "en")[:2])
            self.initial.setdefault("formats", ["pdf"])
        for name, trigger in (("cron", "load, input changed delay:300ms"), ("cron_timezone", "change")):
            # The help text, which screen readers read with the field, becomes the dates.
            self.fields[name].widget.attrs |= {
                "hx-get": reverse("schedules:dates"),
                "hx-trigger": trigger,
                "hx-include": "[name=cron], [name=cron_timezone]",
                "hx-target": "#id_cron_helptext",
            }

    def clean(self) -> dict[str, Any] | None:
        """Ask for one of the two things that can be delivered."""
        cleaned = super().clean() or {}
        if (
            bool(cleaned.get("report")) == bool(cleaned.get("series"))
            and not {"report", "series"} & self.errors.keys()
        ):
            self.add_error(
                "report", ValidationError(_("Choose a management report or a campaign series, one of the two."))
            )
        return cleaned
