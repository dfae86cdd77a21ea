"""Every text of one line that somebody types refuses what nobody sees, by the check that names have."""

from collections.abc import Iterator
from typing import Any

import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers

from apps.accounts.models.names import Named
from apps.core.forms import StyledWidgets, is_line
from apps.core.names import check_seen
from apps.reports import author_edits
from tests.core.test_form_fields import STYLED

# What a form reads as something of its own: the name of what there is, an expression, a secret's hash.
READ = {
    *("cron", "cron_timezone", "timezone", "language", "tool", "search_factor", "password", "role"),
    *("campaigns.Share.name", "campaigns.SparedTeam.name"),
}
# The service looks at a new one: what stood there before it did stays.
BY_SERVICE = {"campaigns.Campaign.name", "testbeds.SettingGrant.pattern"}
UNSEEN = ("one\ntwo", "one\u2028two", "one\u202etwo", "one\u0007two", "one\u200btwo")


def below(kind: type) -> Iterator[Any]:
    for child in kind.__subclasses__():
        yield child
        yield from below(child)


def requests() -> Iterator[tuple[Any, set[str]]]:
    """Yield each serializer that reads what a person sends, and what it reads."""
    schema: Any = SchemaGenerator().get_schema(request=None, public=True)
    bodies = schema["components"]["schemas"]
    for kind in below(serializers.Serializer):
        name = kind.__name__.removesuffix("Serializer")
        body = bodies.get(f"{name}Request") or bodies.get(f"Patched{name}Request")
        if body and kind.__module__.startswith("apps.") and not kind.__module__.startswith("apps.agents."):
            yield kind, {item for item, value in body.get("properties", {}).items() if not value.get("readOnly")}


def written() -> dict[str, Any]:
    """Return each field of a model that a form or a serializer writes, by its name."""
    forms_of_models = [kind for kind in below(forms.BaseModelForm) if kind.__module__.startswith("apps.")]
    doors = [(kind._meta.model, set(kind.base_fields)) for kind in forms_of_models if kind._meta.model]
    doors += [
        (kind.Meta.model, names - set(kind._declared_fields))
        for kind, names in requests()
        if issubclass(kind, serializers.ModelSerializer)
    ]
    return {
        str(field): field for model, names in doors for field in model._meta.concrete_fields if field.name in names
    }


LINES = {
    name: field
    for name, field in written().items()
    if isinstance(field, models.CharField) and not isinstance(field, models.EmailField)
    if not field.choices and not {name, field.name} & READ and name not in BY_SERVICE
}


def test_there_are_lines_that_somebody_types() -> None:
    assert len(LINES) > 25


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_line_of_a_model_refuses_what_nobody_sees(name: str) -> None:
    field = LINES[name]
    if issubclass(field.model, Named) and field.model._meta.get_field("skeleton").of == field.name:
        return
    for text in (*UNSEEN, "one\n", "/one\n"):
        with pytest.raises(ValidationError):
            field.run_validators(text)


@pytest.mark.parametrize("kind", STYLED, ids=lambda kind: kind.__qualname__)
def test_a_line_of_a_form_refuses_what_nobody_sees(kind: Any) -> None:
    class Bare(StyledWidgets, forms.Form):
        locals().update(kind.base_fields)

    for name, field in Bare().fields.items():
        if is_line(field):
            for text in UNSEEN:
                with pytest.raises(ValidationError):
                    field.run_validators(text)
            assert field.validators.count(check_seen) == 1, name


def test_a_line_of_a_request_refuses_what_nobody_sees() -> None:
    # Those of no model: called as lines of models are. A factor's name is one of its tool's.
    lines = {field.name for field in LINES.values() if check_seen in field.validators} | {"keep_as"}
    missing = {
        f"{kind.__qualname__}.{name}"
        for kind, names in requests()
        for name in names & lines & set(kind._declared_fields)
        if check_seen not in kind._declared_fields[name].validators
    }
    assert missing <= {"FactorSerializer.name"}


@pytest.mark.parametrize("text", UNSEEN)
def test_a_title_of_an_author_refuses_what_nobody_sees(text: str) -> None:
    own = {"key": "own-1", "title": text, "text": "one\ntwo"}
    for edits in ({"title": text}, {"own": [own]}):
        with pytest.raises(ValidationError, match="cannot be seen"):
            author_edits.check(edits)
    assert author_edits.check({"title": "One", "own": [own | {"title": "Two"}]})
