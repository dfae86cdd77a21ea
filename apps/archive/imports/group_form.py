"""The form that completes what was found: who measured, and what the outputs do not tell."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.archive.imports import completion
from apps.archive.imports.models import Import
from apps.bench import units
from apps.bench.toolkit import Parameter, ToolRole
from apps.core import moments
from apps.core.forms import StyledWidgets
from apps.core.messages import render
from apps.testbeds.models import FileSystem, Node
from apps.toolbox import queries as toolbox

Json = dict[str, Any]


class GroupsForm(StyledWidgets, forms.Form):
    """For each group: whether it is imported, who measured, and what its outputs do not tell."""

    name = forms.CharField(label=gettext_lazy("Name of the campaign"), max_length=200)
    measured_on = forms.DateField(
        label=gettext_lazy("Measured on"),
        required=False,
        validators=[moments.check_day],
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=gettext_lazy("Counts for what does not tell when it was measured."),
    )
    leave_out = forms.BooleanField(
        label=gettext_lazy("Leave out what cannot be read with these choices, instead of importing nothing"),
        required=False,
    )

    def __init__(self, *args: Any, imported: Import, **kwargs: Any) -> None:
        self.imported = imported
        initial = {"name": imported.name, "measured_on": imported.measured_on, "leave_out": imported.leave_out}
        super().__init__(*args, initial=initial, **kwargs)
        nodes = list(Node.objects.filter(team=imported.team_id).order_by("name").values_list("pk", "name"))
        places = list(FileSystem.objects.filter(team=imported.team_id).values_list("pk", "name"))
        self.has_nodes = bool(nodes)
        fields: dict[str, forms.Field] = {}
        for number, group in enumerate(imported.groups):
            fields |= self._group(number, group, nodes, places)
        self.add_fields(fields)

    @property
    def groups(self) -> list[Json]:
        """Return each group with its fields: {"tool", "varied", "include", "own", "roles", "parameters", …}."""
        entries = []
        for number, group in enumerate(self.imported.groups):
            tool = toolbox.get_tool(group["tool"])
            missing = [item for item in tool.parameters if item.name in group["missing"]]
            own = ["name", "file_system"] if tool.file_system else ["name"]
            roles = [role.name for role in tool.roles if role.name not in group["told_roles"]]
            entries.append(
                {
                    "group": group,
                    "tool": tool,
                    "varied": [render(item.label) for item in tool.parameters if item.name in group["varies"]],
                    "include": self[f"g{number}_include"],
                    "own": [self[f"g{number}_{name}"] for name in own],
                    "alike": self[f"g{number}_alike"] if f"g{number}_alike" in self.fields else None,
                    "roles": [self[f"g{number}_role_{name}"] for name in roles],
                    "parameters": self._shown(number, [item for item in missing if not item.advanced]),
                    "advanced": self._shown(number, [item for item in missing if item.advanced]),
                }
            )
        return entries

    def choices(self) -> dict[str, Json]:
        """Return what was chosen, as services take it."""
        choices = {}
        for number, group in enumerate(self.imported.groups):
            start = f"g{number}_"
            values = {
                name.removeprefix(start): value for name, value in self.cleaned_data.items() if name.startswith(start)
            }
            choices[group["key"]] = {
                "include": values["include"],
                "name": values["name"],
                "alike": values.get("alike", False),
                "file_system": int(values["file_system"]) if values.get("file_system") else None,
                "roles": {
                    name.removeprefix("role_"): [
                        int(pk) for pk in (value if isinstance(value, list) else [value]) if pk
                    ]
                    for name, value in values.items()
                    if name.startswith("role_")
                },
                "parameters": {
                    name.removeprefix("param_"): value
                    for name, value in values.items()
                    if name.startswith("param_") and value not in ("", None)
                },
            }
        return choices

    def field_of(self, wrong: str) -> str | None:
        """Return the field that an error of a service ("groups.0.roles.client") is shown at."""
        parts = wrong.split(".")
        if len(parts) < 3 or parts[0] != "groups":
            return None
        kinds = {"roles": "role_", "parameters": "param_"}
        name = f"g{parts[1]}_{kinds.get(parts[2], parts[2])}{'.'.join(parts[3:])}"
        return name if name in self.fields else None

    def _group(
        self, number: int, group: Json, nodes: list[tuple[int, str]], places: list[tuple[int, str]]
    ) -> dict[str, forms.Field]:
        tool = toolbox.get_tool(group["tool"])
        choice = self.imported.choices.get(group["key"], {})
        cast = choice.get("roles") or group["suggested"]
        fields: dict[str, forms.Field] = {
            "include": forms.BooleanField(label=_("import"), required=False, initial=choice.get("include", True)),
            "name": forms.CharField(
                label=_("Name of the experiment"),
                max_length=200,
                required=False,
                initial=choice.get("name") or completion.default_name(tool, group),
            ),
        }
        for role in tool.roles:
            if role.name in group["told_roles"]:
                continue
            fields[f"role_{role.name}"] = _players(role, cast.get(role.name, []), nodes, is_first=number == 0)
        if tool.file_system:
            fields["file_system"] = forms.ChoiceField(
                label=_("File system"),
                choices=[("", "–"), *places],
                required=False,
                initial=choice.get("file_system") or "",
            )
        if any(parameter.name in group["missing"] and not parameter.aside for parameter in tool.parameters):
            fields["alike"] = forms.BooleanField(
                label=_("What no output tells was the same in all of them"),
                required=False,
                initial=choice.get("alike", False),
                help_text=_(
                    "Then those that are alike in what is known are repetitions, and rules compare them; else each"
                    " stands for itself, unless a column of the table numbers repetitions."
                ),
            )
        for parameter in tool.parameters:
            if parameter.name in group["missing"]:
                fields[f"param_{parameter.name}"] = _asked(parameter, choice.get("parameters", {}))
        return {f"g{number}_{name}": field for name, field in fields.items()}

    def _shown(self, number: int, parameters: Sequence[Parameter]) -> list[Any]:
        return [self[f"g{number}_param_{parameter.name}"] for parameter in parameters]


def _players(role: ToolRole, members: list[int], nodes: list[tuple[int, str]], *, is_first: bool) -> forms.Field:
    """Return the field of who played a role."""
    label = render(role.label)
    if role.many:
        widget = forms.SelectMultiple(attrs={"size": min(6, len(nodes) + 1)})
        return forms.MultipleChoiceField(label=label, choices=nodes, required=False, initial=members, widget=widget)
    empty = _("choose a node") if is_first else _("as in the first group")
    initial = next(iter(members), "")
    return forms.ChoiceField(label=label, choices=[("", empty), *nodes], required=False, initial=initial)


def _asked(parameter: Parameter, values: Json) -> forms.Field:
    """Return the field of a parameter that not every output tells; empty means that it is not known."""
    label, initial = render(parameter.label), values.get(parameter.name)
    if parameter.kind == "boolean" or parameter.choices:
        options = [(value, render(text)) for value, text in parameter.choices] or [("no", _("no")), ("yes", _("yes"))]
        if isinstance(initial, bool):
            initial = "yes" if initial else "no"
        known_options = [(value, text) for value, text in options if value]
        return forms.ChoiceField(
            label=label,
            choices=[("", _("not known")), *known_options],
            required=False,
            initial=initial or "",
        )
    text = "" if initial is None else units.canonical_text(initial, parameter.kind)
    return forms.CharField(
        label=label,
        required=False,
        max_length=1000,
        initial=text,
        widget=forms.TextInput(attrs={"placeholder": _("not known"), "autocomplete": "off", "spellcheck": "false"}),
    )
