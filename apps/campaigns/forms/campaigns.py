"""The form of a campaign."""

from typing import Any

from django import forms
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy

from apps.accounts.forms import TeamForm
from apps.campaigns import errors, schedules
from apps.campaigns.models import Campaign
from apps.core.forms import add_new_errors

_ANY_CRON = "0 0 * * *"


class CampaignForm(TeamForm):
    """Name, goal, and when a launch really starts it."""

    class Meta:
        model = Campaign
        fields = ["name", "goal", "start_at", "cron", "cron_timezone", "overlap"]
        widgets = {
            "goal": forms.Textarea(attrs={"rows": 3}),
            "start_at": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
            "cron": forms.TextInput(attrs={"placeholder": "30 2 * * 1"}),
            "cron_timezone": forms.TextInput(attrs={"list": "zones", "autocomplete": "off"}),
        }
        help_texts = {
            "goal": gettext_lazy("What is to be found out, in words."),
            "start_at": gettext_lazy("In your time zone; empty starts at the launch."),
            "cron": gettext_lazy("Minute, hour, day, month, day of the week; empty runs it once."),
            "overlap": gettext_lazy("For repeated campaigns: dates pile up behind one that cannot end."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance.pk:
            self.initial.setdefault("cron_timezone", self.user.timezone)
        self.fields["overlap"].required = False
        for name, trigger in (("cron", "load, input changed delay:300ms"), ("cron_timezone", "change")):
            # The help text, which screen readers read with the field, becomes the dates.
            self.fields[name].widget.attrs |= {
                "hx-get": reverse("campaigns:dates"),
                "hx-trigger": trigger,
                "hx-include": "[name=cron], [name=cron_timezone]",
                "hx-target": "#id_cron_helptext",
            }

    def clean_overlap(self) -> str:
        """Leave it as it is where it was not asked for."""
        return str(self.cleaned_data["overlap"] or self.instance.overlap)

    def clean(self) -> dict[str, Any] | None:
        """Look at the dates as the service does, also where another field is wrong: all mistakes are told at once."""
        cleaned = super().clean()
        data, now = self.cleaned_data, timezone.now()
        try:
            if "start_at" in self.changed_data:
                schedules.check_start(start_at=data.get("start_at"), now=now)
        except errors.Refused as refused:
            add_new_errors(self, refused)
        data["cron_timezone"] = data.get("cron_timezone", "").strip()
        try:
            # A time zone is kept, and so must be one, where nothing is repeated, too.
            schedules.check_schedule(cron=data.get("cron") or _ANY_CRON, timezone=data["cron_timezone"], now=now)
        except errors.Refused as refused:
            add_new_errors(self, refused)
        return cleaned
