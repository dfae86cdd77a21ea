"""One rule for all forms: quantities ask for their units, and every text of a mistake is ours and says what to do."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from django import forms

import apps
from apps.bench import tools, units
from apps.bench.sweep import values
from apps.bench.toolkit import Parameter
from apps.campaigns.forms.fields import field_of
from apps.core.forms import QuantityField, StyledWidgets, word_errors

# As Django begins its own.
STOCK = ("This field", "Ensure this", "Enter a", "Select a valid", "Null characters")


def form_classes() -> list[type[forms.BaseForm]]:
    """Return every form of the product."""
    for module in pkgutil.walk_packages(apps.__path__, "apps."):
        if ".forms" in module.name:
            importlib.import_module(module.name)

    def below(kind: type) -> Iterator[type]:
        for child in kind.__subclasses__():
            yield child
            yield from below(child)

    return sorted(
        {
            kind
            for kind in below(forms.BaseForm)
            if kind.__module__.startswith("apps.") and hasattr(kind, "base_fields")
        },
        key=lambda kind: (kind.__module__, kind.__qualname__),
    )


QUANTITIES = [
    pytest.param(field, id=f"{kind.__qualname__}.{name}")
    for kind in form_classes()
    for name, field in kind.base_fields.items()
    if isinstance(field, QuantityField)
]
STYLED = [kind for kind in form_classes() if issubclass(kind, StyledWidgets)]
PARAMETERS = [
    item
    for tool in tools.all_tools()
    for item in tool.parameters
    if item.kind in units.BASE_UNITS and not item.choices
]


@pytest.mark.parametrize("field", QUANTITIES)
def test_a_quantity_of_a_form_asks_for_its_unit(field: QuantityField) -> None:
    base, usual = units.BASE_UNITS[field.kind], units.tables.USUAL_UNITS[field.kind]
    for bare in ("622", "6.5e2", " 622 ", "６２２"):
        with pytest.raises(forms.ValidationError) as refused:
            field.clean(bare)
        assert f"{usual}”, or “" in refused.value.messages[0]
        assert f"{base}” if that is what you mean" in refused.value.messages[0]
    assert field.clean("0") == 0
    assert field.clean(f"622 {base}") == 622
    # What the form itself shows of a stored value can be saved again.
    for stored in (1, 1500, 9_999_999):
        assert field.clean(field.prepare_value(stored)) == stored


def test_a_parameter_of_an_experiment_asks_for_its_unit() -> None:
    assert PARAMETERS
    for parameter in PARAMETERS:
        _check_parameter(parameter)


def _check_parameter(parameter: Parameter) -> None:
    field, base = field_of(parameter), units.BASE_UNITS[parameter.kind]
    for bare in ("622", f"1 {base}, 622", f"1 {base}..2 {base} x2, 4..8 x2", "1..622 x2"):
        with pytest.raises(forms.ValidationError, match="has no unit"):
            field.clean(bare)
    for text in ("", "0", f"622 {base}", f"0..8 {base} /4", f"1 {base}, 2 {base}", "=bdp(1, 2) * {1, 2}", "banana"):
        assert field.clean(text) == text


def test_what_has_no_unit_is_not_asked_for_one() -> None:
    values.require_units("1, 2, 4..8 x2", "integer")
    values.require_units("cubic, bbr", "text")


def test_rest_keeps_numbers_in_base_units() -> None:
    assert units.parse_quantity("622", "rate") == 622


@pytest.mark.parametrize("kind", STYLED, ids=lambda kind: kind.__qualname__)
def test_no_form_speaks_django_s_stock_texts(kind: type[forms.BaseForm]) -> None:
    for name, field in kind.base_fields.items():
        word_errors(field)
        codes = {"required", "min_value", "max_value", "max_length", "invalid_choice", "null_characters_not_allowed"}
        for code in codes & set(field.error_messages):
            assert not str(field.error_messages[code]).startswith(STOCK), (name, code)
