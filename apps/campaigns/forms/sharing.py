"""The form that says who sees a campaign."""

import re
from typing import Any

from django import forms
from django.core.validators import validate_slug
from django.utils.translation import gettext_lazy as _

from apps.campaigns.models import Campaign
from apps.campaigns.queries import offers
from apps.core.forms import StyledWidgets

# Of a short name, and of a list of as many as may be offered at a time.
LONGEST_NAME = 50
LONGEST_LIST = 3000


class TeamNames(forms.CharField):
    """Short names of teams, parted by commas or spaces; whether there are such teams is told to nobody."""

    def to_python(self, value: Any) -> Any:
        """Return the list, each name once."""
        text = super().to_python(value) or ""
        if len(text) > LONGEST_LIST:
            raise forms.ValidationError(_("A short name has at most 50 letters, and there are at most 50 names."))
        return list(dict.fromkeys(re.findall(r"[^\s,;]+", text)))

    def prepare_value(self, value: Any) -> Any:
        """Return the list as it is typed."""
        return ", ".join(value) if isinstance(value, list) else value

    def run_validators(self, value: Any) -> None:
        """Raise a ValidationError if one is no short name."""
        for name in value:
            validate_slug(name)
            if len(name) > LONGEST_NAME:
                raise forms.ValidationError(_("A short name has at most 50 letters, and there are at most 50 names."))


class SharingForm(StyledWidgets, forms.ModelForm):
    """Visibility, the teams it is offered to, what the public does not see, and the licence."""

    shared_with = TeamNames(
        label=_("shared with"),
        required=False,
        max_length=LONGEST_LIST,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=_(
            "Short names of teams, with commas between them. A team sees the campaign once it accepts it, and may "
            "copy its recipe; only your team changes it. Nobody is told whether there is such a team: to one that is "
            "made later, offer it again."
        ),
    )
    field_order = ("visibility", "shared_with", "redacted", "licence")

    class Meta:
        model = Campaign
        fields = ["visibility", "redacted", "licence"]
        widgets = {"visibility": forms.RadioSelect}
        help_texts = {
            "redacted": _("Strangers then read “node 1” and “site 1”, and no address. Holds for what is public."),
            "licence": _("What others may do with the figures; without one they have to ask you."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["shared_with"] = [share.name for share in offers.offers_of(self.instance)]
