"""The form that takes a file of published figures."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.accounts import scoping
from apps.accounts.models import Role, Team, User
from apps.core.forms import StyledWidgets
from apps.tuning.published import importing


class ImportForm(StyledWidgets, forms.Form):
    """The figures, the slips of their sources, and the team whose archive takes them."""

    team = forms.ModelChoiceField(Team.objects.none(), label=_("Team"), empty_label=None)
    published = forms.FileField(
        label=_("Figures"), help_text=_("A JSON file with sites, testbeds, clusters, links and cases.")
    )
    facts = forms.FileField(
        label=_("Slips of the sources"),
        required=False,
        help_text=_("A JSON file of facts; what it flags is shown beside the figures and never computed with."),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        teams: Any = self.fields["team"]
        teams.queryset = scoping.teams_for(user, Role.OPERATOR).order_by("name")

    def clean_published(self) -> str:
        """Return the text of the figures."""
        return _text_of(self.cleaned_data["published"])

    def clean_facts(self) -> str:
        """Return the text of the facts, "" without any."""
        file = self.cleaned_data["facts"]
        return _text_of(file) if file else ""


def _text_of(file: Any) -> str:
    try:
        return importing.decode(file.read(importing.MOST_BYTES + 1))
    except ValidationError as error:
        raise ValidationError(error.messages) from error
