"""The fields of an experiment's form that its tool and its campaign tell: roles, parameters, storage, order."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import Team
from apps.bench import units
from apps.bench.sweep import references, setting_names, values
from apps.bench.toolkit import Parameter, Tool
from apps.campaigns import services
from apps.campaigns.expansion import is_bracketed
from apps.campaigns.models import Campaign, Experiment
from apps.core.messages import render
from apps.testbeds.models import Cluster, FileSystem, Node

# A text with one of these is a list or a range, and so sweeps its parameter.
_SWEEPS = (",", "..")
# A formula with a list does so, too.
_LIST = "{"


def sweeps(text: str) -> bool:
    """Say whether a parameter's text gives several values."""
    if references.is_formula(text):
        return _LIST in text
    return any(mark in text for mark in _SWEEPS)


class ParameterField(forms.CharField):
    """The value, list, range or formula of a parameter; its quantities need their units."""

    def __init__(self, *, kind: str, **kwargs: Any) -> None:
        self.kind = kind
        super().__init__(required=False, max_length=10_000, **kwargs)

    def clean(self, value: Any) -> str:
        """Return the text as typed."""
        text = str(super().clean(value))
        if not references.is_formula(text):
            try:
                values.require_units(text, self.kind)
            except units.UnitError as error:
                raise forms.ValidationError(render(error.message)) from error
        return text


class Several(forms.MultipleChoiceField):
    """Choices of which several sweep the parameter."""

    widget = forms.CheckboxSelectMultiple

    def prepare_value(self, value: Any) -> Any:
        """Read a stored list."""
        return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


def role_fields(tool: Tool, campaign: Campaign) -> dict[str, forms.Field]:
    """Return the fields of who plays the roles."""
    return {f"role_{role.name}": players_field(render(role.label), campaign.team) for role in tool.roles}


def players_field(label: str, team: Team) -> forms.Field:
    """Return a field of nodes and clusters of a team."""
    nodes = [(f"node:{node.pk}", node.name) for node in Node.objects.filter(team=team)]
    clusters = [(f"cluster:{cluster.pk}", cluster.name) for cluster in Cluster.objects.filter(team=team)]
    choices = [(_("Nodes"), nodes), (_("Clusters: each node in turn"), clusters)]
    return forms.MultipleChoiceField(
        label=label,
        choices=[group for group in choices if group[1]],
        widget=forms.SelectMultiple(attrs={"size": min(8, max(3, len(nodes) + len(clusters) + 1))}),
        error_messages={"required": _("Choose a node or a cluster; several take the role in turn.")},
    )


def players_of(role: str, chosen: Iterable[str], team: Team) -> list[services.Player]:
    """Return who was chosen in a field of `players_field`."""
    players = []
    for choice in chosen:
        kind, _colon, pk = choice.partition(":")
        if kind == "node":
            players.append(services.Player(role, node=Node.objects.get(team=team, pk=pk)))
        else:
            players.append(services.Player(role, cluster=Cluster.objects.get(team=team, pk=pk)))
    return players


def parameter_fields(tool: Tool) -> dict[str, forms.Field]:
    """Return {"param_NAME": field} of all parameters of a tool."""
    return {f"param_{parameter.name}": field_of(parameter) for parameter in tool.parameters}


def field_of(parameter: Parameter) -> forms.Field:
    """Return the field of a parameter."""
    label, help_text = render(parameter.label), render(parameter.help)
    if parameter.kind == "boolean" or parameter.choices:
        choices = [(value, render(text)) for value, text in parameter.choices] or [("no", _("no")), ("yes", _("yes"))]
        default = parameter.default if parameter.choices else ("yes" if parameter.default else "no")
        return Several(label=label, help_text=help_text, required=False, choices=choices, initial=[default])
    default = "" if parameter.default in (None, "") else units.canonical_text(parameter.default, parameter.kind)
    if parameter.zero and not parameter.default:
        default = render(parameter.zero)
    return ParameterField(
        kind=parameter.kind,
        label=label,
        help_text=help_text,
        widget=forms.TextInput(attrs={"placeholder": default, "autocomplete": "off", "spellcheck": "false"}),
    )


def text_of(value: str | list[str]) -> str:
    """Return what was typed or chosen as one text."""
    return ", ".join(value) if isinstance(value, list) else value.strip()


def lines_of(text: str) -> list[str]:
    """Return the lines that hold something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def storage_fields(tool: Tool, campaign: Campaign) -> dict[str, forms.Field]:
    """Return the field of the file system, if the tool writes to one."""
    if not tool.file_system:
        return {}
    file_systems = list(FileSystem.objects.filter(team=campaign.team))
    return {
        "file_system": forms.ModelChoiceField(
            FileSystem.objects.filter(team=campaign.team),
            label=_("File system"),
            required=tool.file_system == "required",
            # Where there is but one that must be chosen, it is.
            initial=file_systems[0] if len(file_systems) == 1 and tool.file_system == "required" else None,
            empty_label="---------" if file_systems else _("none described yet"),
            help_text=_("The nodes must mount it; a run keeps it, and the nodes that serve it, to itself."),
        )
    }


def context_fields(tool: Tool) -> dict[str, forms.Field]:
    """Return the field of the bracket around runs on a network."""
    if not is_bracketed(tool):
        return {}
    return {
        "context": forms.BooleanField(
            label=_("Look at route, RTT and loss before and after each run"),
            required=False,
            initial=True,
            help_text=_("Takes about a second more; a run whose path changed meanwhile is marked as doubtful."),
        )
    }


def stage_fields(campaign: Campaign, experiment: Experiment | None) -> dict[str, forms.Field]:
    """Return the field of the experiment to wait for, if there is another."""
    others = campaign.experiments.all()
    if experiment:
        others = others.exclude(pk=experiment.pk)
    if not others:
        return {}
    return {
        "after": forms.ModelChoiceField(
            others,
            label=_("Waits for"),
            required=False,
            help_text=_(
                "Starts when all trials of that experiment have ended; values may then be formulas over what it and "
                "those before it measured: =bdp(max(Bottleneck.goodput), min(Baseline.rtt_min)) * {0.5, 1, 2}"
            ),
        )
    }


class SettingsField(forms.CharField):
    """Kernel settings, one a line: ``client net.ipv4.tcp_congestion_control = cubic, bbr``."""

    def __init__(self, **kwargs: Any) -> None:
        placeholder = "client net.ipv4.tcp_congestion_control = cubic, bbr"
        box = forms.Textarea(attrs={"rows": 2, "placeholder": placeholder, "spellcheck": "false"})
        help_text = gettext_lazy(
            "One a line: role, key, “=” and values; several values with commas between sweep it. Only what the "
            "owners of the nodes allow the team can be set; it is put back after each run."
        )
        super().__init__(required=False, max_length=10_000, widget=box, help_text=help_text, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Return stored settings as lines."""
        if isinstance(value, str) or value is None:
            return value
        lines = ((*setting_names.role_and_key(name), text) for name, text in value.items())
        return "\n".join(f"{role} {key} = {text}" for role, key, text in lines)

    def clean(self, value: Any) -> Any:
        """Return {name of the parameter: text}."""
        texts: dict[str, str] = {}
        for number, line in enumerate(lines_of(super().clean(value) or ""), start=1):
            left, equals, text = line.partition("=")
            words = left.split()
            if len(words) != 2 or not equals or not text.strip():
                raise forms.ValidationError(
                    _(
                        "Line %(number)s: write a role, a key, “=” and a value, such as "
                        "server net.core.rmem_max = 4194304."
                    )
                    % {"number": number}
                )
            name = setting_names.name_of(*words)
            if name in texts:
                raise forms.ValidationError(
                    _("Line %(number)s: %(role)s %(key)s stands here twice: put all its values into one line.")
                    % {"number": number, "role": words[0], "key": words[1]}
                )
            texts[name] = text.strip()
        return texts
