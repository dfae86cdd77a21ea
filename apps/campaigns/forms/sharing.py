"""The form that says who sees a campaign."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Team
from apps.campaigns.models import Campaign
from apps.core.forms import StyledWidgets


class SharingForm(StyledWidgets, forms.ModelForm):
    """Visibility, the teams it is shared with, what the public does not see, and the licence."""

    class Meta:
        model = Campaign
        fields = ["visibility", "shared_with", "redacted", "licence"]
        widgets = {"visibility": forms.RadioSelect, "shared_with": forms.CheckboxSelectMultiple}
        help_texts = {
            "shared_with": _("They may look at it and copy it; only your team changes it."),
            "redacted": _("Strangers then read “node 1” and “site 1”, and no address. Holds for what is public."),
            "licence": _("What others may do with the figures; without one they have to ask you."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        teams: Any = self.fields["shared_with"]
        teams.queryset = Team.objects.exclude(pk=self.instance.team_id).order_by("name")
