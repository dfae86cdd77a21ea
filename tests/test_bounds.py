"""Every text that a person, a program or an agent can have stored has a length, at every door."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.validators import ArrayMaxLengthValidator
from django.core.exceptions import ValidationError
from django.db import models
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator

from apps.agents import facts
from apps.agents.models import Job
from apps.archive.campaigns import records
from apps.archive.campaigns.form import ArchiveError
from apps.campaigns.api.notes import NoteSerializer, NoteViewSet
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.campaigns.models.annotations import Note
from apps.core.models import BoundedJSONField, BoundedTextField
from apps.core.row_sizes import MOST_PAGE_BYTES, most_rows, row_bytes
from apps.results.models import Result, Series
from tests import factories
from tests.campaigns import factories as make

# Written by the service itself, from rows that have their own bounds.
OURS = {"reports.Edition.canonical"}
# What is looked up, and never stored: a name that stands for a row, a key of an answer, a choice.
LOOKED_UP = {
    *("team", "shared_with", "campaign", "baseline", "also", "edition", "key", "point", "metric", "timezone"),
    *("nodes", "people", "parameters", "default_team"),
}
# Hashed, never stored.
HASHED = {"new_password1", "new_password2", "old_password", "password", "username"}


def test_every_text_of_a_model_has_a_length() -> None:
    ours = [model for model in apps.get_models() if model.__module__.startswith("apps.")]
    texts = [field for model in ours for field in model._meta.fields if isinstance(field, models.TextField)]
    assert len(texts) > 15
    unbounded = {f"{field.model._meta.label}.{field.name}" for field in texts if field.max_length is None}
    assert unbounded == OURS


def _stored() -> list[Any]:
    ours = [model for model in apps.get_models() if model.__module__.startswith("apps.")]
    return [field for model in ours for field in model._meta.concrete_fields]


def test_every_value_and_every_list_of_a_model_is_held_to_its_length_by_the_model_itself() -> None:
    fields = _stored()
    assert len([field for field in fields if isinstance(field, models.JSONField)]) > 40
    bounds = {models.TextField: BoundedTextField, models.JSONField: BoundedJSONField}
    unbounded = {
        f"{field.model._meta.label}.{field.name}"
        for field in fields
        for kind, bounded in bounds.items()
        if isinstance(field, kind) and not isinstance(field, bounded)
    }
    arrays = [field for field in fields if isinstance(field, ArrayField)]
    unbounded |= {
        f"{field.model._meta.label}.{field.name}"
        for field in arrays
        if not any(isinstance(check, ArrayMaxLengthValidator) for check in field.validators)
    }
    assert len(arrays) > 8
    assert unbounded == OURS


@pytest.mark.parametrize("field", [field for field in _stored() if isinstance(field, BoundedJSONField)], ids=str)
def test_a_value_that_is_too_long_is_refused_by_its_field(field: BoundedJSONField) -> None:
    with pytest.raises(ValidationError, match="too long"):
        field.run_validators("x" * field.most_bytes)


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (Campaign, "tags", ["t"] * 21),
        (Note, "text", "x" * 10_001),
        (Experiment, "fixed", {f"z{number}": "y" * 60 for number in range(1000)}),
        (Experiment, "factors", [{"name": "window", "expression": "1," * 5000}] * 10),
        (Experiment, "exclusions", ["window == 1"] * 5000),
        (Trial, "parameters", {f"p{number}": number for number in range(5000)}),
        (Result, "requested", {"wide": "y" * 100_000}),
        (Result, "granted", {"wide": "y" * 100_000}),
        (Result, "observed", {f"k{number}": "y" * 180 for number in range(5000)}),
        (Series, "times", [1.0] * 500_001),
        (Job, "argv", ["x" * 4000] * 100),
        (Job, "collect", ["x"] * 1001),
    ],
    ids=str,
)
def test_an_archive_brings_no_more_than_other_doors_take(model: Any, name: str, value: Any) -> None:
    with pytest.raises(ArchiveError):
        records.value(model._meta.get_field(name), value, "here")


def _lists() -> Iterator[tuple[str, Any]]:
    def walk(patterns: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        for pattern in patterns:
            path = prefix + str(pattern.pattern)
            if hasattr(pattern, "url_patterns"):
                yield from walk(pattern.url_patterns, path)
            elif (getattr(pattern.callback, "actions", None) or {}).get("get") == "list" and "format" not in path:
                yield path, pattern.callback.cls

    return walk(get_resolver().url_patterns, "")


def test_a_page_of_any_list_is_bounded_in_bytes() -> None:
    sizes = {path: (row_bytes(view), most_rows(view)) for path, view in _lists()}
    assert sum(row > 0 for row, _most in sizes.values()) > 30
    # Of 50 rows, as many as nobody asked for, those of a few lists may be longer, of values that are never so long.
    too_long = {path: size for path, size in sizes.items() if size[0] * size[1] > 2 * MOST_PAGE_BYTES}
    assert too_long == {}
    assert {path: most for path, (_row, most) in sizes.items() if "notes" in path or "trials" in path} == {
        "api/v1/^notes/$": 200,
        "api/v1/^trials/$": 500,
    }


@pytest.mark.django_db
def test_the_longest_note_takes_no_more_than_is_counted_for_it(cast: Any) -> None:
    note = Note(text="\N{WATER WAVE}" * 10_000, campaign=make.campaign(cast), created_by=cast.alice)
    row = len(json.dumps(NoteSerializer(note).data, ensure_ascii=False).encode())
    assert 40_000 < row <= row_bytes(NoteViewSet)


def test_a_bounded_text_is_held_to_its_length_by_the_model_itself(cast: Any) -> None:
    draft = make.campaign(cast)
    draft.goal = "x" * 10_001
    with pytest.raises(forms.ValidationError, match="at most 10000 characters") as refused:
        draft.full_clean()
    assert set(refused.value.message_dict) == {"goal"}
    assert BoundedTextField(max_length=3).validators


def all_forms(base: type = forms.BaseForm) -> Iterator[Any]:
    for form in base.__subclasses__():
        yield form
        yield from all_forms(form)


def test_every_text_of_a_form_has_a_length() -> None:
    # All pages, and with them all forms.
    assert get_resolver().url_patterns
    ours = {form for form in all_forms() if form.__module__.startswith("apps.") and hasattr(form, "base_fields")}
    assert len(ours) > 20
    unbounded = {
        f"{form.__name__}.{name}"
        for form in ours
        for name, field in form.base_fields.items()
        if isinstance(field, forms.CharField) and field.max_length is None and name not in HASHED
        if not isinstance(field, forms.GenericIPAddressField)
    }
    assert not unbounded


def unbounded_in(schema: dict[str, Any], place: str, components: dict[str, Any], seen: set[str]) -> Iterator[str]:
    """Give the places of texts in what a request may hold that have no length."""
    if reference := schema.get("$ref", "").rpartition("/")[2]:
        if reference not in seen:
            seen.add(reference)
            yield from unbounded_in(components[reference], reference, components, seen)
        return
    for inner in [part for kind in ("allOf", "oneOf", "anyOf") for part in schema.get(kind, [])]:
        yield from unbounded_in(inner, place, components, seen)
    if schema.get("type") == "array":
        yield from unbounded_in(schema["items"], place, components, seen)
    for name, inner in schema.get("properties", {}).items():
        if not inner.get("readOnly") and name not in LOOKED_UP:
            yield from unbounded_in(inner, f"{place}.{name}", components, seen)
    if schema.get("type") == "string" and not {"enum", "format", "maxLength"} & schema.keys():
        yield place


def test_every_text_of_a_request_to_rest_has_a_length() -> None:
    schema: Any = SchemaGenerator().get_schema(request=None, public=True)
    bodies = [
        (f"{method} {path}", content["schema"])
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        for content in operation.get("requestBody", {}).get("content", {}).values()
    ]
    assert len(bodies) > 50
    seen: set[str] = set()
    found = {
        place for where, body in bodies for place in unbounded_in(body, where, schema["components"]["schemas"], seen)
    }
    # An inventory is a text as a whole, and has its own limit in bytes.
    assert found <= {"ImportRequest.inventory", "post /api/v1/inventory/"}


def test_an_agents_fact_that_is_too_long_is_refused_by_name() -> None:
    with pytest.raises(facts.WrongFactError, match="10000"):
        facts.checked_facts({"kernel": {"version": "x" * (facts.LONGEST_TEXT + 1)}})


def test_each_door_of_a_goal_names_field_and_limit(cast: Any, client: Any) -> None:
    long = "word " * 3000
    values = {"team": cast.team.slug, "name": "Long", "goal": long}
    answer = client.post(
        "/api/v1/campaigns/", values, content_type="application/json", **factories.bearer(cast.oscar)
    )
    assert answer.status_code == 400 and "10000" in str(answer.json()["fields"]["goal"]), answer.json()
    campaign = make.campaign(cast)
    client.force_login(cast.oscar)
    page = client.post(f"/campaigns/{campaign.pk}/", {"name": "Long", "goal": long, "cron_timezone": "UTC"})
    assert Campaign.objects.get(pk=campaign.pk).goal == ""
    assert page.status_code != 500
