"""The form that takes a file of published figures."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.accounts.team_imports import IntoTeamForm
from apps.tuning.published import places


class PublishedImportForm(IntoTeamForm):
    """The figures, the slips of their sources, and the team whose archive takes them."""

    published = forms.FileField(
        label=_("Figures"), help_text=_("A JSON file with sites, testbeds, clusters, links and cases.")
    )
    facts = forms.FileField(
        label=_("Slips of the sources"),
        required=False,
        help_text=_("A JSON file of facts; what it flags is shown beside the figures and never computed with."),
    )

    def clean_published(self) -> str:
        """Return the text of the figures."""
        return _text_of(self.cleaned_data["published"])

    def clean_facts(self) -> str:
        """Return the text of the facts, "" without any."""
        file = self.cleaned_data["facts"]
        return _text_of(file) if file else ""


def _text_of(file: Any) -> str:
    try:
        return places.decode(file.read(places.MOST_BYTES + 1))
    except ValidationError as error:
        raise ValidationError(error.messages) from error
