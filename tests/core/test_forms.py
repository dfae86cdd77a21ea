"""Forms: how they look, and quantities with units."""

import pytest
from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError

from apps.core.forms import QuantityField, StyledWidgets, add_errors


class LinkForm(StyledWidgets, forms.Form):
    name = forms.CharField(help_text="As on the label")
    capacity = QuantityField(kind="rate", label="Capacity")
    rtt = QuantityField(kind="duration", required=False)
    kind = forms.ChoiceField(choices=[("a", "A")], required=False)
    up = forms.BooleanField(required=False, label="Is up")


def filled(**changes: str) -> LinkForm:
    return LinkForm({"name": "wan", "capacity": "1 Gbit/s", "rtt": "4.8 ms", "kind": "a"} | changes)


def test_quantities_are_read_into_base_units() -> None:
    form = filled()
    assert form.is_valid(), form.errors
    assert form.cleaned_data["capacity"] == 1_000_000_000
    assert form.cleaned_data["rtt"] == 0.0048


def test_an_optional_quantity_may_be_left_out() -> None:
    form = filled(rtt=" ")
    assert form.is_valid()
    assert form.cleaned_data["rtt"] is None


def test_a_wrong_quantity_is_refused_at_its_field_with_the_remedy() -> None:
    form = filled(capacity="fast")
    assert not form.is_valid()
    assert "write a number and a unit" in form.errors["capacity"][0]
    assert "is-invalid" in str(form["capacity"])
    assert "is-invalid" not in str(form["name"])


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("rate", 1_000_000_000, "1 Gbit/s"),
        ("rate", 987_654_321, "987654321bit/s"),
        ("size", 65536, "64 KiB"),
        ("size", 65537, "65537B"),
        ("duration", 0.0048, "4.80 ms"),
        ("duration", 0.00481234, "4.81234ms"),
        ("integer", 3, "3"),
        ("rate", None, None),
        ("rate", "1 Gb", "1 Gb"),
    ],
)
def test_a_stored_quantity_is_shown_so_that_saving_it_again_changes_nothing(
    kind: str, value: object, shown: object
) -> None:
    field = QuantityField(kind=kind)
    assert field.prepare_value(value) == shown
    if isinstance(value, int | float):
        assert field.clean(shown) == value


def test_a_quantity_written_another_way_has_not_changed() -> None:
    field = QuantityField(kind="rate")
    assert not field.has_changed(1_000_000_000, "1 Gbit/s")
    assert field.has_changed(1_000_000_000, "2 Gbit/s")


def test_widgets_wear_bootstraps_classes() -> None:
    form = LinkForm()
    assert 'class="form-control"' in str(form["name"])
    assert 'class="form-select"' in str(form["kind"])
    assert 'class="form-check-input"' in str(form["up"])


def test_a_field_is_drawn_with_its_label_help_and_error() -> None:
    form = filled(name="")
    html = str(form)
    assert '<label class="form-label" for="id_name">Name</label>' in html
    assert 'id="id_name_helptext">As on the label' in html
    assert "This is needed" in html
    assert 'aria-invalid="true"' in html
    assert 'aria-describedby="id_name_helptext id_name_error"' in html
    assert "optional" in html
    assert '<label class="form-check-label" for="id_up">Is up</label>' in html


def test_a_services_refusal_lands_at_its_fields() -> None:
    form = filled()
    assert form.is_valid()
    add_errors(form, ValidationError({"name": ["taken"], NON_FIELD_ERRORS: ["not now"], "mtu": ["too small"]}))
    assert form.errors["name"] == ["taken"]
    assert form.non_field_errors() == ["not now", "mtu: too small"]
    assert "is-invalid" in str(form["name"])


def test_a_services_refusal_without_fields_lands_above_the_form() -> None:
    form = filled()
    assert form.is_valid()
    add_errors(form, ValidationError("not now"))
    assert form.non_field_errors() == ["not now"]
