"""How forms look, and fields that take quantities with units."""

import functools
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.forms import formsets
from django.forms.renderers import TemplatesSetting
from django.utils.translation import gettext_lazy as _

from apps.bench import units
from apps.core import messages, names
from apps.core.errors import by_field


class BootstrapRenderer(TemplatesSetting):
    """Renders forms and fields with the project's own templates."""

    form_template_name = "components/form_fields.html"
    field_template_name = "components/field.html"


# What is said in the place of Django's own texts, by the code of what is wrong: what to do.
_TEXTS: dict[str, Any] = {
    "required": _("This is needed: enter a value."),
    "min_value": _("Too small: the minimum is %(limit_value)s."),
    "max_value": _("Too large: the maximum is %(limit_value)s."),
    "max_length": _("Too long (%(show_value)s): use at most %(limit_value)s characters."),
    "min_length": _("Too short (%(show_value)s): use at least %(limit_value)s characters."),
    "null_characters_not_allowed": _("This holds a control character: take it out, or write it again."),
}
_CHOICE = _("This is not offered here: choose again from the list.")
# Of fields of one kind; the first that a field is an instance of holds.
_TEXTS_OF_KINDS: tuple[tuple[type[forms.Field], dict[str, Any]], ...] = (
    (forms.FloatField, {"invalid": _("This is no number: enter one such as 0.5.")}),
    (forms.IntegerField, {"invalid": _("This is no whole number: enter one such as 3.")}),
    (forms.DateTimeField, {"invalid": _("This is no date and time: enter one such as 2027-01-31 08:30.")}),
    (forms.DateField, {"invalid": _("This is no date: enter one such as 2027-01-31.")}),
    (forms.ModelMultipleChoiceField, {"invalid_choice": _CHOICE, "invalid_pk_value": _CHOICE, "list": _CHOICE}),
    (forms.ModelChoiceField, {"required": _("Choose one."), "invalid_choice": _CHOICE}),
    (forms.MultipleChoiceField, {"required": _("Choose at least one."), "invalid_choice": _CHOICE}),
    (forms.ChoiceField, {"required": _("Choose one."), "invalid_choice": _CHOICE}),
    (forms.EmailField, {"invalid": _("This is no e-mail address: enter one such as name@example.org.")}),
)


def word_errors(field: forms.Field) -> None:
    """Give a field our texts wherever it has Django's."""
    stock: dict[str, Any] = {}
    for base in reversed(type(field).__mro__):
        if base.__module__.startswith("django."):
            stock |= getattr(base, "default_error_messages", {})
    kind = next((texts for kind, texts in _TEXTS_OF_KINDS if isinstance(field, kind)), {})
    for code, text in (_TEXTS | kind).items():
        # A field's own text, or that of its class, stays.
        if field.error_messages.get(code) in (None, stock.get(code)):
            field.error_messages[code] = text


def is_line(field: forms.Field) -> bool:
    """Return whether a field takes a text of one line as it is typed, and is no secret."""
    return type(field) is forms.CharField and type(field.widget) is forms.TextInput


class StyledWidgets(forms.BaseForm):
    """Mixin of forms: gives each widget Bootstrap's class, each field our texts of what is wrong with it, and marks
    wrong fields, also those found wrong later; a text of one line holds no sign that nobody sees.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.add_fields({})

    def add_fields(self, fields: dict[str, forms.Field]) -> None:
        """Add fields that only the request tells, and style what has no style yet."""
        self.fields |= fields
        for field in self.fields.values():
            word_errors(field)
            if is_line(field) and names.check_seen not in field.validators:
                field.validators.append(names.check_seen)
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


class BoundedFormSet(formsets.BaseFormSet):
    """A formset that builds no row at all where more are sent than `absolute_max`.

    Django builds so many, each with its fields, and shows them again, for whoever sends a large number.
    """

    default_error_messages: ClassVar[dict[str, Any]] = {
        "missing_management_form": _("The rows cannot be read, or are more than can be taken. Load the page again.")
    }

    @functools.cached_property
    def management_form(self) -> Any:
        """Return the form that says how many rows there are; one that says too many says none."""
        form = super().management_form
        counts = (formsets.TOTAL_FORM_COUNT, formsets.INITIAL_FORM_COUNT)
        if form.is_bound:
            if not all(form.cleaned_data[name] in range((self.absolute_max or 0) + 1) for name in counts):
                form.add_error(None, self.default_error_messages["missing_management_form"])
            if not form.is_valid():
                # Neither number can be believed.
                form.cleaned_data |= dict.fromkeys(counts, 0)
        return form


class BoundedInlineFormSet(BoundedFormSet, forms.BaseInlineFormSet):
    """One of the administrator's pages, bounded."""


def add_new_errors(form: forms.BaseForm, error: ValidationError) -> None:
    """Put on the form those of a refusal's messages whose field it has, and has found nothing wrong with yet."""
    for name, wrong in by_field(error).items():
        if name in form.fields and name not in form.errors:
            form.add_error(name, wrong)


def add_errors(form: forms.BaseForm, error: ValidationError) -> None:
    """Put a service's refusal on the form: each message at its field, the others above the form."""
    for name, wrong in by_field(error).items():
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
