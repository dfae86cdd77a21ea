"""Forms that carry the version of what they show."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django import forms
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from apps.core.editing.conflicts import EditConflict, FieldConflict, conflict_of
from apps.core.editing.versions import OVER, VERSION, version_of

_LONGEST_TEXT = 500
EMPTY: Mapping[str, str] = MappingProxyType({})


class _BoundVersion(forms.BoundField):
    """The version as it was sent; where nothing was sent yet, that of what is shown."""

    field: "VersionField"

    def value(self) -> Any:
        """Return the version that was sent; before that, the one of what the form shows."""
        return super().value() if self.form.is_bound else version_of(self.field.shown(self.form))


class VersionField(forms.CharField):
    """The hidden field with the version; `values` are those of the thing where they are not the form's own."""

    def __init__(self, values: Mapping[str, Any] | None) -> None:
        super().__init__(required=False, widget=forms.HiddenInput)
        self.values = values

    def clean(self, value: Any) -> str:
        """Return nothing: no version is wrong, it is only that of something else."""
        return ""

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> forms.BoundField:
        """Return the field as it stands in the form."""
        return _BoundVersion(form, self, field_name)

    def shown(self, form: forms.BaseForm) -> Mapping[str, Any]:
        """Return the values of the thing by field, as the form shows them before anybody types."""
        if self.values is not None:
            return self.values
        return {
            name: field.prepare_value(form.get_initial_for_field(field, name))
            for name, field in form.fields.items()
            if field is not self
        }


def guard(form: Any, values: Mapping[str, Any] | None = None) -> Any:
    """Return the form with its version; `values` by field where what is shown is not the form's initial values."""
    form.fields[VERSION] = VersionField(values)
    form.conflict = None
    clean_rest = form.clean

    def clean() -> Any:
        # It is nothing of the thing's: who saves what the form says does not meet it.
        form.cleaned_data.pop(VERSION, None)
        return clean_rest()

    form.clean = clean
    return form


def refuse_stale(form: Any, row: Model) -> bool:
    """Say whether somebody else changed the row, which must be held, since the form was shown; it then says what."""
    field = form.fields[VERSION]

    def describe(name: str, value: Any) -> FieldConflict:
        shown_field = form.fields.get(name)
        if shown_field is None:
            return FieldConflict(name, _text(value))
        return FieldConflict(str(form[name].label or name), _text_in(shown_field, value))

    # A form whose errors were looked for has written into the row what was typed.
    name = str(row._meta.model._base_manager.get(pk=row.pk))
    form.conflict = conflict_of(form.data, row=row, values=field.shown(form), describe=describe, name=name)
    return form.conflict is not None


def page_conflict(
    request: HttpRequest, row: Model, values: Mapping[str, Any], *, name: str = "", texts: Mapping[str, str] = EMPTY
) -> EditConflict | None:
    """Return what somebody changed of what a small form, which is no `Form`, showed; `values` by its fields.

    `texts` are the values as a reader knows them, where they are shown otherwise than they are kept.
    """
    return conflict_of(
        request.POST,
        row=row,
        values=values,
        describe=lambda part, value: FieldConflict(_labels().get(part, part), texts.get(part) or _text(value)),
        name=name or str(row),
    )


def conflict_page(request: HttpRequest, conflict: EditConflict) -> HttpResponse:
    """Show (409) what somebody changed, and what was typed into a small form, to be saved over it or thrown away."""
    passing = ("csrfmiddlewaretoken", OVER)
    typed = [(name, value) for name, value in request.POST.items() if name not in passing]
    context = {"conflict": conflict, "typed": typed, "labels": _labels(), "back": request.headers.get("Referer", "")}
    return render(request, "components/conflict_page.html", context, status=409)


def _labels() -> dict[str, str]:
    """Return what the fields of small forms are called."""
    return {
        "text": _("Text"),
        "title": _("Title"),
        "role": _("Role"),
        "tags": _("Tags"),
        "state": _("State"),
        "reason": _("Reason"),
        "explanation": _("What happened, or why it is no change"),
    }


def _text_in(field: forms.Field, value: Any) -> str:
    """Return a value as the field shows it."""
    chosen: Any = getattr(field, "choices", None)
    if chosen is None:
        entry = value if isinstance(value, bool | dict | list) else field.widget.format_value(value)
        return _text(entry)
    labels: dict[str, str] = {}
    for key, label in chosen:
        labels |= {str(k): str(v) for k, v in label} if isinstance(label, list | tuple) else {str(key): str(label)}
    values = value if isinstance(value, list | tuple) else [value]
    # As a form has them: "" and None are alike.
    return _text(", ".join(labels.get(str(_key(part)), str(part)) for part in values if part not in (None, "")))


def _key(part: Any) -> Any:
    return part.pk if isinstance(part, Model) else part


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, Mapping):
        value = ", ".join(f"{name}: {inner}" for name, inner in value.items())
    elif isinstance(value, list | tuple):
        value = ", ".join(str(part) for part in value)
    text = "" if value is None else str(value)
    return text[:_LONGEST_TEXT] + "…" if len(text) > _LONGEST_TEXT else text or "–"
