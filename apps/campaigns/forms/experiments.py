"""The form of an experiment, whose fields are its tool's parameters."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from apps.bench.sweep import setting_names
from apps.bench.toolkit import Tool
from apps.campaigns import services
from apps.campaigns.forms import adaptation, fields
from apps.campaigns.models import Campaign, Experiment
from apps.core.errors import by_field
from apps.core.forms import StyledWidgets

# Fields that are columns of the model, of the same name.
_PLAIN = ("repetitions", "warmups", "order", "seed", "max_attempts", "retry_wait_s")


class ExperimentForm(StyledWidgets, adaptation.AdaptationForm):
    """One experiment: fields for roles, for parameters (a list or range in one sweeps it), and for the order."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    zips = forms.CharField(
        label=gettext_lazy("Vary together"),
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "window, streams"}),
        help_text=gettext_lazy(
            "A line for each group of parameters whose values go in pairs instead of in all combinations."
        ),
    )
    exclusions = forms.CharField(
        label=gettext_lazy("Leave out"),
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "window > 1MiB and streams > 4"}),
        help_text=gettext_lazy("A condition a line; points that meet one are not measured."),
    )
    settings = fields.SettingsField(label=gettext_lazy("Kernel settings"))
    repetitions = forms.IntegerField(label=gettext_lazy("Repetitions"), min_value=1, max_value=1000, initial=3)
    warmups = forms.IntegerField(label=gettext_lazy("Warm-up runs"), min_value=0, max_value=100, initial=0)
    order = forms.ChoiceField(
        label=gettext_lazy("Order"), choices=Experiment.Order.choices, initial=Experiment.Order.RANDOMISED
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed of the random order"), min_value=0, max_value=2**31 - 1, initial=1
    )
    max_attempts = forms.IntegerField(label=gettext_lazy("Attempts at most"), min_value=1, max_value=20, initial=3)
    retry_wait_s = forms.IntegerField(
        label=gettext_lazy("Wait before a retry (s)"), min_value=0, max_value=86400, initial=5
    )

    def __init__(
        self, *args: Any, tool: Tool, campaign: Campaign, experiment: Experiment | None = None, **kwargs: Any
    ) -> None:
        self.tool = tool
        self.campaign = campaign
        super().__init__(*args, **kwargs)
        self.set_factors(tool)
        self.add_fields(
            fields.role_fields(tool, campaign)
            | fields.parameter_fields(tool)
            | fields.storage_fields(tool, campaign)
            | fields.context_fields(tool)
            | fields.stage_fields(campaign, experiment)
        )

    @property
    def storage_fields(self) -> Iterable[forms.BoundField]:
        """Return the fields of where the tool writes."""
        return [self[name] for name in ("file_system",) if name in self.fields]

    @property
    def lacks_file_system(self) -> bool:
        """Return whether the tool writes to a file system and the team has described none."""
        field = self.fields.get("file_system")
        return (
            isinstance(field, forms.ModelChoiceField) and field.queryset is not None and not field.queryset.exists()
        )

    @property
    def condition_fields(self) -> Iterable[forms.BoundField]:
        """Return the fields of what is done around each run, and before the first."""
        return [self[name] for name in ("context", "after") if name in self.fields]

    @property
    def role_fields(self) -> Iterable[forms.BoundField]:
        """Return a field for each role of the tool: who plays it."""
        return [self[f"role_{role.name}"] for role in self.tool.roles]

    @property
    def parameter_fields(self) -> Iterable[forms.BoundField]:
        """Return the fields of the usual parameters."""
        return [self[f"param_{item.name}"] for item in self.tool.parameters if not item.advanced]

    @property
    def advanced_fields(self) -> Iterable[forms.BoundField]:
        """Return the fields of the parameters few need."""
        return [self[f"param_{item.name}"] for item in self.tool.parameters if item.advanced]

    def clean(self) -> dict[str, Any]:
        """Where a field is wrong by itself, look at the others as the service will: all mistakes are told at once."""
        data = super().clean()
        if self.errors:
            values = self.values()
            roles = values.pop("roles")
            experiment = Experiment(campaign=self.campaign, **values)
            try:
                services.check_experiment(experiment, services.players_of(experiment, roles))
            except forms.ValidationError as error:
                self.add_refusal(error, only_new=True)
        return data

    def values(self) -> dict[str, Any]:
        """Return what `services.create_experiment` takes, less the campaign and the user.

        In the place of a field that is wrong stands what it was before anybody typed.
        """
        absent = {name: self._blank(name, field) for name, field in self.fields.items()}
        data = absent | self.cleaned_data
        texts = {item.name: fields.text_of(data[f"param_{item.name}"]) for item in self.tool.parameters}
        texts |= data["settings"]
        return {
            "tool": self.tool.slug,
            "name": data["name"],
            "roles": [
                player
                for role in self.tool.roles
                for player in fields.players_of(role.name, data[f"role_{role.name}"], self.campaign.team)
            ],
            "fixed": {name: text for name, text in texts.items() if text and not fields.sweeps(text)},
            "factors": [{"name": name, "expression": text} for name, text in texts.items() if fields.sweeps(text)],
            "zips": [[name.strip() for name in line.split(",")] for line in fields.lines_of(data["zips"])],
            "exclusions": fields.lines_of(data["exclusions"]),
            "file_system": data.get("file_system"),
            "context": data.get("context", True),
            "after": data.get("after"),
            **{name: data[name] for name in (*_PLAIN, *adaptation.FIELDS)},
        }

    def _blank(self, name: str, field: forms.Field) -> Any:
        """Return a value for a field that has none, with which the others can be looked at."""
        if name == "name":
            # Any will do: whether it is taken is asked when there is one.
            return self.tool.name
        if name == "settings":
            return {}
        if name.startswith(("role_", "param_")) or isinstance(field, forms.CharField):
            return ""
        return field.initial if not isinstance(field, forms.ModelChoiceField) else None

    def add_refusal(self, error: forms.ValidationError, *, only_new: bool = False) -> None:
        """Show each of a service's refusals at the field that it concerns; `only_new` those of fields without one."""
        for name, wrong in by_field(error).items():
            part, _dot, rest = name.partition(".")
            field = {"fixed": f"param_{rest}", "factors": f"param_{rest}", "roles": f"role_{rest}"}.get(part, part)
            field = "settings" if setting_names.is_setting(rest) else field
            if field not in self.fields:
                self.add_error(None, wrong)
            elif not only_new or field not in self.errors:
                self.add_error(field, wrong)


def shown_of(experiment: Experiment) -> dict[str, Any]:
    """Return all that the form of an experiment shows of it, by field, whatever tool the form is for."""
    values = {"tool": experiment.tool} | initial_of(experiment)
    return {name: sorted(value) if name.startswith("role_") else value for name, value in values.items()}


def initial_of(experiment: Experiment) -> dict[str, Any]:
    """Return the form's values for an experiment that is there."""
    names = ("name", *_PLAIN, "file_system", "context", "after")
    values: dict[str, Any] = {name: getattr(experiment, name) for name in names}
    values |= adaptation.initial_of(experiment)
    values["zips"] = "\n".join(", ".join(group) for group in experiment.zips)
    values["exclusions"] = "\n".join(experiment.exclusions)
    texts = dict(experiment.fixed) | {factor["name"]: factor["expression"] for factor in experiment.factors}
    values |= {f"param_{name}": text for name, text in texts.items() if not setting_names.is_setting(name)}
    values["settings"] = {name: text for name, text in texts.items() if setting_names.is_setting(name)}
    for part in experiment.roles.all():
        chosen = values.setdefault(f"role_{part.role}", [])
        chosen.append(f"node:{part.node_id}" if part.node_id else f"cluster:{part.cluster_id}")
    return values
