"""The form of a search kept under a name."""

from django import forms
from django.utils.translation import gettext as _

from apps.accounts.forms import TeamForm
from apps.accounts.models import User
from apps.archive.search.conditions import known_to
from apps.archive.search.models import SavedSearch
from apps.archive.search.state import read_text
from apps.results.saved_queries import refuse


class SavedSearchForm(TeamForm):
    """The name of a search; what it asks for is the query of its address."""

    class Meta:
        model = SavedSearch
        fields = ["name", "query"]
        widgets = {"query": forms.HiddenInput}

    def clean_query(self) -> str:
        """Refuse a search for nothing."""
        return checked_query(self.cleaned_data["query"], self.user)


def checked_query(text: str, user: User) -> str:
    """Return a search's query as it is stored; a ValidationError says what of it cannot be read."""
    search, errors = read_text(text, known_to(user))
    refuse(errors)
    if not search.is_narrowed:
        raise forms.ValidationError(_("There is nothing to save: the search asks for nothing."))
    return search.as_query()
