"""The form of a team's rules of retention."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.archive.models import RetentionRule
from apps.core.forms import StyledWidgets

Action, Kind = RetentionRule.Action, RetentionRule.Kind
KEEP = _("Empty keeps it for ever.")


class RetentionForm(StyledWidgets, forms.Form):
    """After how many days what becomes of time series and of raw output."""

    series_days = forms.IntegerField(
        label=_("Time series: days after the run"), required=False, min_value=1, max_value=36500, help_text=KEEP
    )
    series_action = forms.ChoiceField(label=_("Time series: what happens"), choices=Action.choices)
    output_days = forms.IntegerField(
        label=_("Raw output: days after the run"), required=False, min_value=1, max_value=36500, help_text=KEEP
    )
    output_action = forms.ChoiceField(label=_("Raw output: what happens"), choices=Action.choices)

    @property
    def wishes(self) -> dict[str, tuple[int | None, str]]:
        """Return {kind: (days, action)} of a form that is valid."""
        data: dict[str, Any] = self.cleaned_data
        return {kind: (data[f"{kind}_days"], data[f"{kind}_action"]) for kind in Kind.values}


def initial_of(rules: dict[str, RetentionRule]) -> dict[str, Any]:
    """Return the form's values as they are now."""
    return {f"{kind}_{name}": getattr(rule, name) for kind, rule in rules.items() for name in ("days", "action")}


def shown_of(rules: dict[str, RetentionRule]) -> dict[str, Any]:
    """Return what the form shows of the rules, by field; None for the days of what is kept for ever."""
    return dict.fromkeys(f"{kind}_{name}" for kind in Kind.values for name in ("days", "action")) | initial_of(rules)
