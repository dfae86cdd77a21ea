"""Forms: a campaign, and an experiment whose fields are its tool's parameters."""

from collections.abc import Iterable
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.forms import TeamForm
from apps.bench import units
from apps.bench.tools.base import Parameter, Tool
from apps.campaigns import services
from apps.campaigns.models import Campaign, Experiment
from apps.core.forms import StyledWidgets
from apps.core.messages import render
from apps.testbeds.models import Cluster, Node

# A text with one of these is a list or a range, and so sweeps its parameter.
_SWEEPS = (",", "..")


class CampaignForm(TeamForm):
    """Name, goal, and when a launch really starts it."""

    class Meta:
        model = Campaign
        fields = ["name", "goal", "start_at", "cron", "cron_timezone"]
        widgets = {
            "goal": forms.Textarea(attrs={"rows": 3}),
            "start_at": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
            "cron": forms.TextInput(attrs={"placeholder": "30 2 * * 1"}),
            "cron_timezone": forms.TextInput(attrs={"list": "zones", "autocomplete": "off"}),
        }
        help_texts = {
            "goal": gettext_lazy("What is to be found out, in words."),
            "start_at": gettext_lazy("In your time zone; empty starts at the launch."),
            "cron": gettext_lazy("Minute, hour, day, month, day of the week; empty runs it once."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance.pk:
            self.initial.setdefault("cron_timezone", self.user.timezone)

    def clean_cron_timezone(self) -> str:
        """Refuse a name that is no time zone."""
        name = self.cleaned_data["cron_timezone"].strip()
        if name not in available_timezones():
            raise forms.ValidationError(_("This is no time zone; use a name such as Asia/Seoul or UTC."))
        return ZoneInfo(name).key


class ExperimentForm(StyledWidgets, forms.Form):
    """One experiment: fields for roles, for parameters (a list or range in one sweeps it), and for the order."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    zips = forms.CharField(
        label=gettext_lazy("Vary together"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "window, streams"}),
        help_text=gettext_lazy(
            "A line for each group of parameters whose values go in pairs instead of in all combinations."
        ),
    )
    exclusions = forms.CharField(
        label=gettext_lazy("Leave out"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "window > 1MiB and streams > 4"}),
        help_text=gettext_lazy("A condition a line; points that meet one are not measured."),
    )
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

    def __init__(self, *args: Any, tool: Tool, campaign: Campaign, **kwargs: Any) -> None:
        self.tool = tool
        self.campaign = campaign
        super().__init__(*args, **kwargs)
        self.add_fields(_role_fields(tool, campaign) | _parameter_fields(tool))

    @property
    def role_fields(self) -> Iterable[forms.BoundField]:
        """Return the fields of the roles."""
        return [self[f"role_{role.name}"] for role in self.tool.roles]

    @property
    def parameter_fields(self) -> Iterable[forms.BoundField]:
        """Return the fields of the usual parameters."""
        return [self[f"param_{item.name}"] for item in self.tool.parameters if not item.advanced]

    @property
    def advanced_fields(self) -> Iterable[forms.BoundField]:
        """Return the fields of the parameters few need."""
        return [self[f"param_{item.name}"] for item in self.tool.parameters if item.advanced]

    def values(self) -> dict[str, Any]:
        """Return what `services.create_experiment` takes, less the campaign and the user."""
        data = self.cleaned_data
        fixed, factors = {}, []
        for parameter in self.tool.parameters:
            text = _text_of(data[f"param_{parameter.name}"])
            if any(mark in text for mark in _SWEEPS):
                factors.append({"name": parameter.name, "expression": text})
            elif text:
                fixed[parameter.name] = text
        return {
            "tool": self.tool.slug,
            "name": data["name"],
            "roles": [player for role in self.tool.roles for player in self._players(role.name)],
            "fixed": fixed,
            "factors": factors,
            "zips": [[name.strip() for name in line.split(",")] for line in _lines(data["zips"])],
            "exclusions": _lines(data["exclusions"]),
            **{
                name: data[name]
                for name in ("repetitions", "warmups", "order", "seed", "max_attempts", "retry_wait_s")
            },
        }

    def add_refusal(self, error: forms.ValidationError) -> None:
        """Show each of a service's refusals at the field that it concerns."""
        for name, wrong in error.error_dict.items():
            part, _dot, rest = name.partition(".")
            field = {"fixed": f"param_{rest}", "factors": f"param_{rest}", "roles": f"role_{rest}"}.get(part, part)
            if field in self.fields:
                self.add_error(field, wrong)
            else:
                self.add_error(None, wrong)

    def _players(self, role: str) -> list[services.Player]:
        found = []
        for choice in self.cleaned_data[f"role_{role}"]:
            kind, _colon, pk = choice.partition(":")
            if kind == "node":
                found.append(services.Player(role, node=Node.objects.get(team=self.campaign.team, pk=pk)))
            else:
                found.append(services.Player(role, cluster=Cluster.objects.get(team=self.campaign.team, pk=pk)))
        return found


def initial_of(experiment: Experiment) -> dict[str, Any]:
    """Return the form's values for an experiment that is there."""
    names = ("name", "repetitions", "warmups", "order", "seed", "max_attempts", "retry_wait_s")
    values: dict[str, Any] = {name: getattr(experiment, name) for name in names}
    values["zips"] = "\n".join(", ".join(group) for group in experiment.zips)
    values["exclusions"] = "\n".join(experiment.exclusions)
    for name, text in experiment.fixed.items():
        values[f"param_{name}"] = text
    for factor in experiment.factors:
        values[f"param_{factor['name']}"] = factor["expression"]
    for part in experiment.roles.all():
        chosen = values.setdefault(f"role_{part.role}", [])
        chosen.append(f"node:{part.node_id}" if part.node_id else f"cluster:{part.cluster_id}")
    return values


class _Several(forms.MultipleChoiceField):
    """Choices of which several sweep the parameter."""

    widget = forms.CheckboxSelectMultiple

    def prepare_value(self, value: Any) -> Any:
        """Read a stored list."""
        return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def _role_fields(tool: Tool, campaign: Campaign) -> dict[str, forms.Field]:
    nodes = [(f"node:{node.pk}", node.name) for node in Node.objects.filter(team=campaign.team)]
    clusters = [(f"cluster:{cluster.pk}", cluster.name) for cluster in Cluster.objects.filter(team=campaign.team)]
    choices = [(_("Nodes"), nodes), (_("Clusters: each node in turn"), clusters)]
    return {
        f"role_{role.name}": forms.MultipleChoiceField(
            label=render(role.label),
            choices=[group for group in choices if group[1]],
            widget=forms.SelectMultiple(attrs={"size": min(8, max(3, len(nodes) + len(clusters) + 1))}),
            error_messages={"required": _("Choose a node or a cluster; several take the role in turn.")},
        )
        for role in tool.roles
    }


def _parameter_fields(tool: Tool) -> dict[str, forms.Field]:
    return {f"param_{parameter.name}": _field_of(parameter) for parameter in tool.parameters}


def _field_of(parameter: Parameter) -> forms.Field:
    label, help_text = render(parameter.label), render(parameter.help)
    if parameter.kind == "boolean" or parameter.choices:
        choices = [(value, render(text)) for value, text in parameter.choices] or [("no", _("no")), ("yes", _("yes"))]
        default = parameter.default if parameter.choices else ("yes" if parameter.default else "no")
        return _Several(label=label, help_text=help_text, required=False, choices=choices, initial=[default])
    default = "" if parameter.default in (None, "") else units.canonical_text(parameter.default, parameter.kind)
    default = "" if parameter.default in (None, "") else units.canonical_text(parameter.default, parameter.kind)
    return forms.CharField(
        label=label,
        help_text=help_text,
        required=False,
        max_length=10_000,
        widget=forms.TextInput(attrs={"placeholder": default, "autocomplete": "off", "spellcheck": "false"}),
    )


def _text_of(value: str | list[str]) -> str:
    return ", ".join(value) if isinstance(value, list) else value.strip()


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
