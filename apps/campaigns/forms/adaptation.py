"""The part of an experiment's form that lets it decide by itself while it is measured."""

from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy

from apps.bench.toolkit import Tool
from apps.campaigns import adaptive
from apps.campaigns.models import Experiment

FIELDS = ("precision", "most_repetitions", "search_factor", "search_goal", "search_budget")


class AdaptationForm(forms.Form):
    """How often to repeat, and along which factor to search; people write the precision in per cent."""

    precision = forms.FloatField(
        label=gettext_lazy("Repeat until within (%)"),
        required=False,
        min_value=0.1,
        max_value=50,
        widget=forms.NumberInput(attrs={"placeholder": "3", "step": "any"}),
        help_text=gettext_lazy(
            "Half the width of the mean's interval (95 %), in per cent of the mean; empty repeats as often as given."
        ),
    )
    most_repetitions = forms.IntegerField(
        label=gettext_lazy("Repetitions at most"), required=False, min_value=3, max_value=1000, initial=20
    )
    search_factor = forms.ChoiceField(
        label=gettext_lazy("Refine"),
        required=False,
        help_text=gettext_lazy(
            "Measures further values of a swept parameter where they tell most, instead of a full grid."
        ),
    )
    search_goal = forms.ChoiceField(
        label=gettext_lazy("Near"), required=False, choices=Experiment.Goal.choices, initial=Experiment.Goal.KNEE
    )
    search_budget = forms.IntegerField(
        label=gettext_lazy("Further values at most"), required=False, min_value=1, max_value=200, initial=8
    )

    def set_factors(self, tool: Tool) -> None:
        """Offer what a search may go along: nothing, or one of the tool's numbers."""
        numbers = [(item.name, gettext_lazy(item.label)) for item in tool.parameters if adaptive.is_number(item)]
        field = cast("forms.ChoiceField", self.fields["search_factor"])
        field.choices = [("", gettext_lazy("no parameter: measure the values given")), *numbers]

    def clean(self) -> dict[str, Any]:
        """Let what was left empty be as usual."""
        data = super().clean() or self.cleaned_data
        for name in ("most_repetitions", "search_goal", "search_budget"):
            if data.get(name) in (None, ""):
                data[name] = self.fields[name].initial
        return data

    def clean_precision(self) -> float | None:
        """Return the share of the mean, or None."""
        percent = self.cleaned_data["precision"]
        return None if percent is None else percent / 100


def initial_of(experiment: Experiment) -> dict[str, Any]:
    """Return the form's values for an experiment that is there."""
    values = {name: getattr(experiment, name) for name in FIELDS}
    if experiment.precision is not None:
        values["precision"] = float(f"{100 * experiment.precision:.6g}")
    return values
