"""Forms of reports."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.campaigns.models import Campaign
from apps.campaigns.queries.visibility import visible
from apps.comparison.comparisons import queries as comparisons
from apps.comparison.models import SavedView
from apps.core.forms import StyledWidgets
from apps.reports.models import Report

# A list to choose from that is longer than this helps nobody; REST takes any.
MOST_CHOICES = 300


class ScopeForm(StyledWidgets, forms.Form):
    """A report's title, what it compares with, which further campaigns and saved views it holds."""

    title = forms.CharField(
        label=_("Title"), required=False, max_length=250, help_text=_("Empty: the name of the campaign.")
    )
    baseline = forms.ModelChoiceField(
        Campaign.objects.none(),
        label=_("Compared with"),
        required=False,
        help_text=_("A campaign with experiments of the same names and tools."),
    )
    also = forms.ModelMultipleChoiceField(
        Campaign.objects.none(), label=_("Further campaigns that the report tells of"), required=False
    )
    views = forms.ModelMultipleChoiceField(SavedView.objects.none(), label=_("Saved views"), required=False)

    def __init__(self, *args: Any, user: User, report: Report, **kwargs: Any) -> None:
        names: list[str] = report.selection.get("also", [])
        campaigns = visible(Campaign.objects.filter(deleting_at=None, launched_at__isnull=False), user)
        others = campaigns.exclude(permanent_id=report.campaign.permanent_id if report.campaign else "").order_by(
            "-pk"
        )
        views = comparisons.views_for(user)
        initial = {
            "title": report.edits.get("title", ""),
            "baseline": report.baseline_id,
            "also": list(others.filter(permanent_id__in=names).values_list("pk", flat=True)),
            "views": report.edits.get("views", []),
        }
        super().__init__(*args, initial=initial, **kwargs)
        for name, rows in (("baseline", others), ("also", others), ("views", views)):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            # All may be chosen, the latest are offered.
            field.queryset = rows
            field.choices = [*([("", "–")] if name == "baseline" else []), *_offered(rows, initial[name])]


class FreezeForm(StyledWidgets, forms.Form):
    """What is new in an edition; `latest` is the number of the one before it, as the page showed it."""

    note = forms.CharField(label=_("What is new"), required=False, max_length=300)
    latest = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)


class LanguageForm(forms.Form):
    """The language of a report."""

    language = forms.ChoiceField(choices=settings.LANGUAGES)


def _offered(rows: Any, choice: object) -> list[tuple[int, str]]:
    """Return the latest rows and those that are chosen, as choices."""
    pks = choice if isinstance(choice, list) else [choice]
    offered = {row.pk: str(row) for row in rows[:MOST_CHOICES]}
    offered |= {row.pk: str(row) for row in rows.filter(pk__in=[pk for pk in pks if pk and pk not in offered])}
    return list(offered.items())
