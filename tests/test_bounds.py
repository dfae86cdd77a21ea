"""Every text that a person, a program or an agent can have stored has a length, at every door."""

from collections.abc import Iterator
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.db import models
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator

from apps.agents import facts
from apps.campaigns.models import Campaign
from apps.core.models import BoundedTextField
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
