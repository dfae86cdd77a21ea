"""How forms look, and fields that take quantities with units."""

from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.forms.renderers import TemplatesSetting

from apps.bench import units
from apps.core import messages


class BootstrapRenderer(TemplatesSetting):
    """Renders forms and fields with the project's own templates."""

    form_template_name = "components/form_fields.html"
    field_template_name = "components/field.html"


class StyledWidgets(forms.BaseForm):
    """Mixin of forms: gives each widget Bootstrap's class and marks wrong fields, also those found wrong later."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.add_fields({})

    def add_fields(self, fields: dict[str, forms.Field]) -> None:
        """Add fields that only the request tells, and style what has no style yet."""
        self.fields |= fields
        for field in self.fields.values():
            classes, style = field.widget.attrs.get("class", ""), _style_of(field.widget)
            if style not in classes.split():
                field.widget.attrs["class"] = f"{classes} {style}".strip()

    def add_error(self, field: str | None, error: Any) -> None:
        """Add an error and mark its field."""
        super().add_error(field, error)
        for name in self.errors:
            if name in self.fields:
                attrs = self.fields[name].widget.attrs
                if "is-invalid" not in attrs["class"]:
                    attrs["class"] += " is-invalid"


class QuantityField(forms.CharField):
    """A text such as "1 Gbit/s" read into base units; `kind` as in `apps.bench.units`.

    A person who leaves the unit out is asked which one is meant: 622 may be 622 Mbit/s.
    """

    asks_for_unit = True

    def __init__(self, *, kind: str, **kwargs: Any) -> None:
        self.kind = kind
        super().__init__(**({"max_length": units.LONGEST_QUANTITY} | kwargs))

    def prepare_value(self, value: Any) -> Any:
        """Show a stored number with its unit, rounded only where reading it back loses nothing."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return value
        readable = units.format_quantity(value, units.BASE_UNITS.get(self.kind, ""))
        try:
            return readable if units.parse_quantity(readable, self.kind) == value else self._exact(value)
        except units.UnitError:
            return self._exact(value)

    def clean(self, value: Any) -> Any:
        """Return the number in base units, None for nothing."""
        text = super().clean(value)
        if not text:
            return None
        try:
            if self.asks_for_unit:
                units.require_unit(text, self.kind)
            number = units.parse_quantity(text, self.kind)
        except units.UnitError as error:
            raise ValidationError(messages.render(error.message)) from error
        return number

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Say whether the text stands for another number than the stored one."""
        return super().has_changed(self.prepare_value(initial), data)

    def _exact(self, value: float) -> str:
        return units.canonical_text(value, self.kind)


def add_errors(form: forms.BaseForm, error: ValidationError) -> None:
    """Put a service's refusal on the form: each message at its field, the others above the form."""
    if not hasattr(error, "error_dict"):
        form.add_error(None, error)
        return
    for name, wrong in error.error_dict.items():
        if name in form.fields:
            form.add_error(name, wrong)
        elif name == NON_FIELD_ERRORS:
            form.add_error(None, wrong)
        else:
            form.add_error(None, [f"{name}: {text}" for text in ValidationError(wrong).messages])


def _style_of(widget: forms.Widget) -> str:
    if isinstance(widget, forms.CheckboxInput | forms.CheckboxSelectMultiple | forms.RadioSelect):
        return "form-check-input"
    return "form-select" if isinstance(widget, forms.Select) else "form-control"
