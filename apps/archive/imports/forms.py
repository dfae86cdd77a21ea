"""The forms of imports that send files and give columns their meaning."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.files import File
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.team_imports import IntoTeamForm
from apps.archive.imports.columns import COMMA, POINT
from apps.archive.imports.models import Import
from apps.bench.toolkit import Tool
from apps.core import moments
from apps.core.forms import StyledWidgets
from apps.core.messages import render

Json = dict[str, Any]


class _FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files."""

    widget = _FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[File]:
        """Return the files that were sent."""
        files = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(file, initial) for file in files if file] or [super().clean(None)]


class SendFilesForm(IntoTeamForm):
    """The files, and what they are."""

    kind = forms.ChoiceField(
        label=gettext_lazy("What it is"),
        choices=[
            (Import.Kind.OUTPUTS, gettext_lazy("Raw outputs of tools: each file is recognised by its content")),
            (Import.Kind.TABLE, gettext_lazy("A table of figures (CSV or XLSX): you say what its columns mean")),
        ],
        widget=forms.RadioSelect,
        initial=Import.Kind.OUTPUTS,
    )
    sent = FilesField(
        label=gettext_lazy("Files to import"),
        allow_empty_file=True,
        error_messages={"required": gettext_lazy("Choose the files to import.")},
        help_text=gettext_lazy(
            "Drop them here or choose them: up to 500 files, or thousands packed as zip or tar.gz, 512 MiB in all."
        ),
    )
    name = forms.CharField(label=gettext_lazy("Name of the campaign"), max_length=200, required=False)
    measured_on = forms.DateField(
        label=gettext_lazy("Measured on"),
        required=False,
        validators=[moments.check_day],
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=gettext_lazy("Counts for what does not tell when it was measured."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["sent"].widget.attrs["class"] += " form-control-lg py-5 drop-target"


class ToolForm(StyledWidgets, forms.Form):
    """The tool whose parameters and metrics the columns of a table are."""

    tool = forms.ChoiceField(label=gettext_lazy("Tool that measured"))

    def __init__(self, *args: Any, tools: Sequence[Tool], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices: Any = self.fields["tool"]
        choices.choices = [("", _("choose a tool")), *((tool.slug, tool.name) for tool in tools)]


class ColumnsForm(StyledWidgets, forms.Form):
    """What each column means, and the name under which that is kept."""

    keep_as = forms.CharField(
        label=gettext_lazy("Keep this mapping under the name"),
        max_length=100,
        required=False,
        help_text=gettext_lazy("Tables with the same columns can use it again."),
    )
    decimals = forms.ChoiceField(
        label=gettext_lazy("Decimals"),
        choices=(
            ("", gettext_lazy("as the table shows: what may be decimals or thousands is refused")),
            (POINT, gettext_lazy("follow a point: 941.3")),
            (COMMA, gettext_lazy("follow a comma: 941,3; a point may separate thousands")),
        ),
        required=False,
        help_text=gettext_lazy("Say it where the table does not tell 1.234 from 1,234."),
    )

    def __init__(self, *args: Any, tool: Tool, headers: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.headers = list(headers)
        choices = meanings(tool)
        fields: dict[str, forms.Field] = {}
        for number, header in enumerate(self.headers):
            fields[f"as_{number}"] = forms.ChoiceField(
                label=_("Meaning of “%(column)s”") % {"column": header}, choices=choices, required=False
            )
            fields[f"unit_{number}"] = forms.CharField(
                label=_("Unit of “%(column)s”") % {"column": header}, max_length=20, required=False
            )
        self.add_fields(fields)

    @property
    def columns(self) -> list[tuple[str, Any, Any]]:
        """Return each header with the fields of its meaning and its unit."""
        return [(header, self[f"as_{place}"], self[f"unit_{place}"]) for place, header in enumerate(self.headers)]

    def mapping(self) -> dict[str, dict[str, str]]:
        """Return the meaning of each column, as services take it."""
        mapping, decimals = {}, self.cleaned_data["decimals"]
        for place, header in enumerate(self.headers):
            what, _colon, name = (self.cleaned_data[f"as_{place}"] or "ignore").partition(":")
            unit = self.cleaned_data[f"unit_{place}"].strip()
            mapping[header] = {"as": what, "name": name, "unit": unit, "decimals": decimals}
        return mapping

    @staticmethod
    def initial_of(headers: Sequence[str], columns: Json) -> dict[str, str]:
        """Return the fields' values for a mapping."""
        signs = {meaning.get("decimals") or "" for meaning in columns.values() if meaning.get("as") != "ignore"}
        # Of columns that differ, as REST may have said it, the form has nothing to show.
        values: dict[str, str] = {"decimals": signs.pop() if len(signs) == 1 else ""}
        for place, header in enumerate(headers):
            meaning = columns.get(header) or {"as": "ignore"}
            name = meaning.get("name") or ""
            values[f"as_{place}"] = f"{meaning['as']}:{name}" if name else meaning["as"]
            values[f"unit_{place}"] = meaning.get("unit") or ""
        return values

    def field_of(self, wrong: str) -> str | None:
        """Return the field that an error of a service ("columns.HEADER") is shown at."""
        header = wrong.removeprefix("columns.")
        return f"as_{self.headers.index(header)}" if header in self.headers else None


def meanings(tool: Tool) -> list[tuple[str, Any]]:
    """Return what a column can mean, grouped."""
    return [
        ("ignore", _("not imported")),
        (_("Metrics"), [(f"metric:{item.name}", f"{render(item.label)} ({item.unit})") for item in tool.metrics]),
        (_("Parameters"), [(f"parameter:{item.name}", render(item.label)) for item in tool.parameters]),
        (_("Nodes"), [(f"role:{role.name}", render(role.label)) for role in tool.roles]),
        (_("Other"), [("repetition", _("repetition")), ("time", _("time of the measurement"))]),
    ]
