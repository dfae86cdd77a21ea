"""No JSON of the service holds what readers of the standard refuse: one writer writes it, and no door takes it in."""

import ast
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, models
from rest_framework import serializers
from rest_framework.utils.encoders import JSONEncoder

from apps.archive.campaigns import records
from apps.archive.campaigns.form import ArchiveError
from apps.bench import strict_json
from apps.core import documents, json_answers
from apps.core.models import BoundedJSONField
from tests import test_architecture

ROOT = Path(__file__).resolve().parents[1]
NO_FIGURES = (math.inf, -math.inf, math.nan)
# What else writes JSON, and writes Infinity and NaN unasked.
LOOSE = {"JsonResponse", "JSONRenderer", "AsyncJsonWebsocketConsumer", "JsonWebsocketConsumer"}
# The writer, and the answers that are given to it; a program of its own, and the steps of earlier tables.
OTHERS = ("apps/bench/strict_json.py", "apps/core/json_answers.py", "workers/agent/")


def sources() -> Iterator[Path]:
    """Yield each file whose JSON is the service's."""
    for room in ("apps", "workers"):
        for path in sorted((ROOT / room).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if not name.startswith(OTHERS) and "migrations" not in path.parts:
                yield path


def loose_in(tree: ast.Module) -> Iterator[str]:
    """Yield what of a source writes JSON of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in {("json", "dump"), ("json", "dumps")}:
                yield f"line {node.lineno}: {node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            yield from (f"line {node.lineno}: {item.name}" for item in node.names if item.name in LOOSE)


def strictly(text: str | bytes) -> Any:
    """Return what a text holds to a reader that takes the standard only."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_whatever_writes_json_is_the_one_writer() -> None:
    loose = {str(path.relative_to(ROOT)): list(loose_in(test_architecture.tree_of(path))) for path in sources()}
    assert {name: places for name, places in loose.items() if places} == {}
    assert settings.REST_FRAMEWORK["DEFAULT_RENDERER_CLASSES"] == ["apps.core.json_answers.Renderer"]


@pytest.mark.parametrize("value", NO_FIGURES, ids=str)
def test_each_way_of_writing_says_null_for_what_is_no_figure(value: float) -> None:
    data = {"a": value, "b": [1.5, (value, {"c": value})], "d": "x"}
    known = {"a": None, "b": [1.5, [None, {"c": None}]], "d": "x"}
    returned = serializers.ReturnDict(data, serializer=None)
    assert strictly(strict_json.dumps(data, indent=1, sort_keys=True)) == known
    assert strictly(json_answers.JsonAnswer(data).content) == known
    assert strictly(json_answers.Renderer().render(returned)) == known
    assert strictly(json.dumps(data, cls=strict_json.Encoder)) == known
    assert issubclass(json_answers.Renderer.encoder_class, JSONEncoder)
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict_json.require(data)


def test_a_stored_value_has_no_infinity(db: None) -> None:
    fields = [field for model in apps.get_models() for field in model._meta.concrete_fields]
    stored = [
        field for field in fields if isinstance(field, models.JSONField) and field.model.__module__[:5] == "apps."
    ]
    assert len(stored) > 40
    assert [str(field) for field in stored if not isinstance(field, BoundedJSONField)] == []
    for field in stored:
        assert "encoder" not in field.deconstruct()[3]
        with connection.cursor() as cursor:
            written = field.get_db_prep_value([math.inf, 1.5], connection)
            cursor.execute("SELECT %s::jsonb", [written])
            assert json.loads(cursor.fetchone()[0]) == [None, 1.5], field


def test_no_serializer_takes_a_figure_that_is_none() -> None:
    taken, floats = [], 0
    for serializer in _serializers(serializers.Serializer):
        try:
            fields = serializer().get_fields()
        except (AssertionError, TypeError, AttributeError):
            # A base of others.
            continue
        for name, field in fields.items():
            if field.read_only or not isinstance(field, serializers.FloatField):
                continue
            floats += 1
            for odd in ("NaN", "Infinity", "-inf", "1e999", math.inf, math.nan):
                try:
                    field.run_validation(odd)
                except serializers.ValidationError:
                    continue
                taken.append((serializer.__qualname__, name, odd))
    assert floats
    assert taken == []


def _serializers(base: Any) -> Iterator[Any]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("apps."):
            yield kind
        yield from _serializers(kind)


@pytest.mark.parametrize("figure", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity", "1e70"])
def test_an_archive_brings_no_such_figure(figure: str) -> None:
    limits = documents.DocumentLimits(most_bytes=1000, deepest=8)
    with pytest.raises((documents.UnreadableError, ArchiveError)):
        records.number(documents.read_json(f"[{figure}]", limits)[0], "a place")
