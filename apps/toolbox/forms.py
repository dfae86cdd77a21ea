"""The form of a definition: its fields, a row for each parameter and metric, and an output to try it on."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.forms import BaseFormSet, formset_factory
from django.utils.translation import gettext_lazy as _

from apps.bench import units
from apps.bench.custom.definition import HIGHER, JSON_PATH, LOWER, NEITHER, PARTS, REGEX, TAKES, Definition
from apps.bench.units import canonical_text
from apps.core.forms import BoundedFormSet, StyledWidgets
from apps.core.messages import render
from apps.toolbox.files import MOST_BYTES

GROUPS = (
    ("network", _("Network")),
    ("transfer", _("Transfers")),
    ("storage", _("Storage")),
    ("mpi", _("MPI")),
    ("other", _("Other")),
)
KINDS = {
    "size": _("size"), "rate": _("rate of bits"), "byte-rate": _("rate of bytes"), "duration": _("duration"),
    "integer": _("whole number"), "float": _("number"), "boolean": _("yes or no"), "text": _("text"),
    "choice": _("choice"),
}  # fmt: skip
BETTER = ((HIGHER, _("higher is better")), (LOWER, _("lower is better")), (NEITHER, _("neither")))
FINDS = ((REGEX, _("pattern")), (JSON_PATH, _("JSON path")))
TAKE_NAMES = {
    "last": _("the last"), "first": _("the first"), "minimum": _("the smallest"), "maximum": _("the largest"),
    "mean": _("their mean"), "sum": _("their sum"),
}  # fmt: skip


def _text(
    label: Any, help_text: Any = "", *, rows: int = 0, code: bool = False, needed: bool = False, **attrs: Any
) -> forms.CharField:
    """Return a field for text, of several lines with `rows`; the definition itself says what is wrong with it."""
    attrs |= {"class": "font-monospace"} if code else {}
    attrs |= {"spellcheck": "false", "autocomplete": "off"}
    widget = forms.Textarea(attrs={"rows": rows, **attrs}) if rows else forms.TextInput(attrs=attrs)
    return forms.CharField(label=label, help_text=help_text, required=needed, max_length=20_000, widget=widget)


class DefinitionForm(StyledWidgets, forms.Form):
    """What a definition holds beside parameters and metrics."""

    name = _text(_("Name"), needed=True)
    summary = _text(_("In one line"), _("What it measures; shown where tools are chosen."))
    group = forms.ChoiceField(label=_("Group"), choices=GROUPS, initial="other")
    parts = forms.ChoiceField(label=_("Takes"), choices=[(value, text) for value, text in PARTS])
    program = _text(
        _("Program"),
        _("Its name on the agents' allow-lists, no path."),
        code=True,
        needed=True,
        list="allowed-programs",
    )
    arguments = _text(
        _("Arguments"),
        _(
            "A line for each option and its value. {size} is a parameter, {size:MiB} the same in that unit; "
            "{server.address}, {client.address}, {node.name}, {directory} and {work} are of the nodes. "
            "A line with an empty value, or with a no, is left out."
        ),
        rows=5,
        code=True,
        placeholder="-s {size:MiB}",
    )
    time_limit_s = _text(_("Time limit"), _("Then it is stopped, and the trial fails."), placeholder="60 s")
    time_limit_adds = _text(
        _("plus parameter"), _("A duration that is added, if one sets how long it runs."), code=True
    )
    takes_s = _text(_("Usually takes"), _("For the estimate of how long a campaign takes."), placeholder="10 s")
    takes_adds = _text(_("plus parameter"), code=True)
    result_file = _text(
        _("Result file"), _("If it writes its result to {work}/FILE, that name; else its output is read."), code=True
    )
    server_program = _text(_("Server's program"), code=True, list="allowed-programs")
    server_arguments = _text(_("Server's arguments"), rows=3, code=True)
    ready = _text(_("Server is ready when it prints"), _("A pattern; empty does not wait for a line."), code=True)
    success = _text(_("Must print"), _("A pattern without which the result does not count."), code=True)
    failure = _text(_("Must not print"), _("A pattern of failures; what it finds is shown as the reason."), code=True)
    conditions = _text(
        _("Must hold"),
        _("A condition a line, over metrics and parameters. Results that break one do not count."),
        rows=2,
        code=True,
        placeholder="rate > 1 MB/s and rate < 100 GB/s",
    )
    version = _text(_("Version"), _("A pattern whose group is the program's version."), code=True)
    offered_load = _text(
        _("Offered load"), _("The parameter that sets a rate sent without regard to others, if any."), code=True
    )
    streams = _text(
        _("Streams"), _("The parameter that sets how many connections are open at once, if any."), code=True
    )

    MAIN = ("name", "summary", "group", "parts")
    COMMAND = ("program", "arguments", "result_file")
    TIMES = ("time_limit_s", "time_limit_adds", "takes_s", "takes_adds")
    SERVER = ("server_program", "server_arguments", "ready")
    CHECKS = ("success", "failure", "conditions")
    MORE = ("version", "offered_load", "streams")

    def section(self, names: Iterable[str]) -> list[forms.BoundField]:
        """Return some of the fields."""
        return [self[name] for name in names]

    @property
    def sections(self) -> dict[str, list[forms.BoundField]]:
        """Return the fields by section."""
        names = ("MAIN", "COMMAND", "TIMES", "SERVER", "CHECKS", "MORE")
        return {name.lower(): self.section(getattr(self, name)) for name in names}


class SlugForm(StyledWidgets, forms.Form):
    """The short name of a new tool."""

    slug = forms.CharField(
        label=_("Short name"),
        max_length=40,
        help_text=_(
            "Stands for the tool in results and over REST, with the version behind it: site-stream.v1. It stays."
        ),
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off", "placeholder": "site-stream"}),
    )


class NoteForm(StyledWidgets, forms.Form):
    """What a version brings."""

    note = forms.CharField(label=_("What is new"), max_length=300, required=False)
    based_on = forms.IntegerField(required=False, min_value=1, max_value=10**9, widget=forms.HiddenInput)


class TryForm(StyledWidgets, forms.Form):
    """An output pasted to see what a definition reads of it."""

    output = _text(
        _("Output to try it on"), _("Paste what the program printed; it is read as you type."), rows=8, code=True
    )


class RowForm(StyledWidgets, forms.Form):
    """A row of a table of the form."""

    def is_blank(self) -> bool:
        """Say whether nothing was written into the row: what is chosen from a list is there from the beginning."""
        texts = [name for name, field in self.fields.items() if isinstance(field, forms.CharField)]
        return not any(self.cleaned_data.get(name) for name in texts)


class ParameterRow(RowForm):
    """A row of the form: a parameter with its kind, default, range and choices."""

    name = _text(_("Name"), code=True)
    label = _text(_("Label"))
    kind = forms.ChoiceField(label=_("Kind"), choices=[(kind, KINDS[kind]) for kind in units.KINDS])
    default = _text(_("Default"))
    minimum = _text(_("Minimum"))
    maximum = _text(_("Maximum"))
    choices = _text(_("Choices"), placeholder="a, b, c")
    help = _text(_("Help"))


class MetricRow(RowForm):
    """A row of the form: a metric with its unit, and where it stands in the output."""

    name = _text(_("Name"), code=True)
    label = _text(_("Label"))
    unit = _text(_("Printed in"), placeholder="MB/s")
    better = forms.ChoiceField(label=_("Better"), choices=BETTER)
    find = forms.ChoiceField(label=_("Found by"), choices=FINDS)
    where = _text(_("Pattern or path"), code=True, placeholder=r"Triad: +(\d+\.\d+)")
    take = forms.ChoiceField(label=_("Of several"), choices=[(name, TAKE_NAMES[name]) for name in TAKES])
    optional = forms.BooleanField(label=_("optional"), required=False)


# Those that are taken out again on the page are sent, too.
_ROWS: dict[str, Any] = {"formset": BoundedFormSet, "extra": 1, "can_delete": True, "max_num": 40, "absolute_max": 60}
ParameterRows: type[BaseFormSet] = formset_factory(ParameterRow, **_ROWS)
MetricRows: type[BaseFormSet] = formset_factory(MetricRow, **_ROWS)


class ToolForms:
    """All forms of the page together."""

    def __init__(self, data: Mapping[str, Any] | None = None, initial: Definition | None = None) -> None:
        values = initial_of(initial) if initial else {}
        self.fields = DefinitionForm(data, initial=values)
        self.parameters = ParameterRows(data, initial=values.get("parameters"), prefix="parameters")
        self.metrics = MetricRows(data, initial=values.get("metrics"), prefix="metrics")
        self.trial = TryForm(data)

    def is_valid(self) -> bool:
        """Say whether the texts can be taken; what they mean, the definition says."""
        return all(
            [self.fields.is_valid(), self.parameters.is_valid(), self.metrics.is_valid(), self.trial.is_valid()]
        )

    def definition(self) -> dict[str, Any]:
        """Return the definition as plain data, as `custom.read_definition` takes it."""
        data = {name: value for name, value in self.fields.cleaned_data.items() if value != ""}
        for name in ("arguments", "server_arguments", "conditions"):
            data[name] = self.fields.cleaned_data[name].splitlines()
        parameters = [_filled(row) for row in _rows(self.parameters)]
        for row in parameters:
            if "choices" in row:
                row["choices"] = [part.strip() for part in row["choices"].split(",")]
            # An empty default of a text is one, too; the form has no other way to say that a value is needed.
            if row["kind"] not in ("text", "boolean", "choice") and "default" not in row:
                row["required"] = True
        return {**data, "parameters": parameters, "metrics": [_filled(row) for row in _rows(self.metrics)]}

    def add_errors(self, errors: Mapping[str, Any]) -> None:
        """Put what is wrong with a definition at its fields: "metrics.0.unit" into the first row of metrics."""
        tables = {"parameters": self.parameters, "metrics": self.metrics}
        for name, message in errors.items():
            head, _dot, rest = name.removeprefix("definition.").partition(".")
            number, _dot, field = rest.partition(".")
            rows = _rows(tables[head]) if head in tables else []
            if head in tables and number.isdecimal() and int(number) < len(rows):
                row = rows[int(number)]
                row.add_error(field if field in row.fields else None, message)
            elif head in self.fields.fields:
                self.fields.add_error(head, message)
            else:
                self.fields.add_error(None, message)

    def messages(self) -> list[tuple[str, str]]:
        """Return (field, what is wrong) of all forms, for the list beside the form."""
        errors = [(field.label, text) for field in self.fields for text in field.errors]
        errors += [("", text) for text in self.fields.non_field_errors()]
        for rows in (self.parameters, self.metrics):
            errors += [("", text) for text in rows.non_form_errors()]
            for row in rows:
                errors += [
                    (f"{row['name'].value() or '?'}: {field.label}", text) for field in row for text in field.errors
                ]
                errors += [("", text) for text in row.non_field_errors()]
        return [(str(label), str(text)) for label, text in errors]


def initial_of(definition: Definition) -> dict[str, Any]:
    """Return the fields' texts of a definition."""
    data = definition.as_json()
    for name in ("arguments", "server_arguments", "conditions"):
        data[name] = "\n".join(data[name])
    for name in ("time_limit_s", "takes_s"):
        data[name] = canonical_text(data[name], "duration")
    data["parameters"] = [
        {
            **vars(item),
            "label": render(item.label),
            "choices": ", ".join(value for value, _label in item.choices),
            **{
                end: "" if getattr(item, end) in (None, "") else canonical_text(getattr(item, end), item.kind)
                for end in ("default", "minimum", "maximum")
            },
        }
        for item in definition.parameters
    ]
    return data


def _rows(formset: BaseFormSet) -> list[Any]:
    """Return the rows in which something stands and that are not taken out."""
    return [row for row in formset if not row.is_blank() and not row.cleaned_data.get("DELETE")]


def _filled(row: forms.Form) -> dict[str, Any]:
    return {name: value for name, value in row.cleaned_data.items() if value not in ("", None) and name != "DELETE"}


class FileForm(StyledWidgets, forms.Form):
    """A tool's file, chosen or pasted."""

    file = forms.FileField(label=_("File"), required=False)
    text = _text(_("or its text"), rows=12, code=True)

    def clean(self) -> dict[str, Any] | None:
        """Refuse neither and both."""
        cleaned = super().clean() or {}
        if bool(cleaned.get("file")) == bool(cleaned.get("text")):
            raise forms.ValidationError(_("Choose a file or paste its text."))
        return cleaned

    def content(self) -> bytes | str:
        """Return what the file holds, or the text."""
        chosen = self.cleaned_data["file"]
        return chosen.read(MOST_BYTES + 1) if chosen else self.cleaned_data["text"]

    def add_refusals(self, error: forms.ValidationError) -> None:
        """Show what is wrong with the file, each with the field that it concerns."""
        for name, texts in getattr(error, "message_dict", {"": error.messages}).items():
            for text in texts:
                self.add_error(None, text if name in ("", "file", "__all__") else f"{name}: {text}")
