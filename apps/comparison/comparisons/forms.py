"""Forms of comparisons: one more set, and the name under which a view is kept."""

from datetime import date
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts import rights
from apps.accounts.forms import TeamForm
from apps.accounts.models import User
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.queries.visibility import visible
from apps.comparison.comparisons.sets import ResultSet, SetError, read_set
from apps.comparison.comparisons.state import read_text
from apps.comparison.models import SavedView
from apps.core import messages, moments
from apps.core.forms import StyledWidgets
from apps.results.saved_queries import refuse
from apps.testbeds.models import Cluster, FileSystem, Site

# A list to choose from that is longer than this helps nobody; older campaigns have a button of their own.
MOST_CHOICES = 300


class SetForm(StyledWidgets, forms.Form):
    """One more set of results: what is left empty does not narrow it."""

    campaign = forms.ModelChoiceField(Campaign.objects.none(), label=gettext_lazy("Campaign"), required=False)
    experiment = forms.ModelChoiceField(Experiment.objects.none(), label=gettext_lazy("Experiment"), required=False)
    cluster = forms.ModelChoiceField(Cluster.objects.none(), label=gettext_lazy("Cluster"), required=False)
    site = forms.ModelChoiceField(Site.objects.none(), label=gettext_lazy("Site"), required=False)
    file_system = forms.ModelChoiceField(FileSystem.objects.none(), label=gettext_lazy("File system"), required=False)
    since = forms.DateField(
        label=gettext_lazy("From"),
        required=False,
        validators=[moments.check_day],
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )
    until = forms.DateField(
        label=gettext_lazy("To (that day included)"),
        required=False,
        validators=[moments.check_day],
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )
    settings = forms.CharField(
        label=gettext_lazy("Settings"),
        required=False,
        max_length=500,
        help_text=gettext_lazy("Parameters and their values, for example streams=4; window=1MiB."),
    )
    label = forms.CharField(label=gettext_lazy("Label"), required=False, max_length=80)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        campaigns = visible(Campaign.objects.filter(deleting_at=None, launched_at__isnull=False), user)
        choices: dict[str, Any] = {
            "campaign": campaigns.order_by("-pk"),
            "experiment": visible(
                Experiment.objects.filter(campaign__deleting_at=None, campaign__launched_at__isnull=False),
                user,
                path="campaign",
            )
            .select_related("campaign")
            .order_by("-pk"),
            "cluster": rights.visible(Cluster.objects.all(), user),
            "site": rights.visible(Site.objects.all(), user),
            "file_system": rights.visible(FileSystem.objects.all(), user),
        }
        for name, queryset in choices.items():
            field: Any = self.fields[name]
            field.queryset = queryset
            # The whole list is checked against, but only its newest part is offered.
            offered = _offered(list(queryset[:MOST_CHOICES]), user)
            field.choices = [("", _("any")), *offered]

    def clean(self) -> dict[str, Any]:
        """Read the set that the fields make, as `set`."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        kinds = ("campaign", "experiment", "cluster", "site", "file_system")
        parts = [f"{kind.replace('_', '-')}:{cleaned[kind].pk}" for kind in kinds if cleaned.get(kind)]
        for name in ("since", "until"):
            day: date | None = cleaned.get(name)
            parts += [f"{name}:{day.isoformat()}"] if day else []
        try:
            result_set = read_set(";".join([*parts, cleaned.get("settings", "")]))
        except SetError as error:
            raise forms.ValidationError(messages.render(error.message)) from error
        cleaned["set"] = ResultSet(
            result_set.numbers,
            result_set.since,
            result_set.until,
            result_set.tool,
            cleaned.get("label", ""),
            result_set.settings,
        )
        return cleaned


class ViewForm(TeamForm):
    """The name of a view; what it shows is the query of its address."""

    class Meta:
        model = SavedView
        fields = ["name", "query"]
        widgets = {"query": forms.HiddenInput}

    def clean_query(self) -> str:
        """Refuse a view of nothing."""
        return checked_query(self.cleaned_data["query"])


def checked_query(text: str) -> str:
    """Return the query as it is stored; a ValidationError says what of it cannot be read."""
    state, errors = read_text(text)
    refuse(errors)
    if not state.sets:
        raise forms.ValidationError(_("There is nothing to save: the view has no set."))
    return state.as_query()


def _offered(items: list[Any], user: User) -> list[tuple[int, str]]:
    """Return the choices, each with its team where that is another's."""
    teams = {item.pk: (item.campaign if isinstance(item, Experiment) else item).team_id for item in items}
    foreign = rights.foreign_names(user, teams.values())
    return [
        (item.pk, f"{_label(item)} ({foreign[teams[item.pk]]})" if teams[item.pk] in foreign else _label(item))
        for item in items
    ]


def _label(item: Any) -> str:
    return f"{item.campaign}: {item.name}" if isinstance(item, Experiment) else str(item)
