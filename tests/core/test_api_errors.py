"""Every error of the REST interface has one shape, and none that a client can cause is a 500."""

from typing import Any

import psycopg
import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import DataError, IntegrityError
from django.db.models import ProtectedError, RestrictedError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from apps.accounts.models import Team
from apps.bench import sweep, units
from apps.bench.text import Message
from apps.bench.toolkit import ParameterError, ToolFailure
from apps.core import api
from tests.rest import racing


def answer(error: Exception) -> Response:
    response = api.exception_handler(error, {})
    assert response is not None
    assert isinstance(response.data["detail"], str)
    assert isinstance(response.data["fields"], dict)
    return response


def body(error: Exception) -> tuple[int, str, dict[str, list[str]]]:
    response = answer(error)
    return response.status_code, response.data["detail"], response.data["fields"]


def test_a_wrong_field_is_named() -> None:
    assert body(exceptions.ValidationError({"name": ["taken"]})) == (
        400,
        "Some fields are wrong: see “fields”.",
        {"name": ["taken"]},
    )


def test_an_error_of_no_field_is_the_detail() -> None:
    assert body(exceptions.ValidationError(["no"])) == (400, "no", {})
    assert body(exceptions.ValidationError({"non_field_errors": ["no"], "a": ["b"]})) == (400, "no", {"a": ["b"]})


def test_errors_of_parts_are_named_by_their_path() -> None:
    nested = {"factors": [{}, {"name": ["unknown"]}], "roles": {"client": ["missing"]}}
    _status, _detail, fields = body(exceptions.ValidationError(nested))
    assert fields == {"factors.1.name": ["unknown"], "roles.client": ["missing"]}


def test_a_model_that_does_not_validate_is_a_400() -> None:
    assert body(ValidationError({"name": ["taken"], "__all__": ["both"]})) == (400, "both", {"name": ["taken"]})
    assert body(ValidationError("no")) == (400, "no", {})


@pytest.mark.parametrize("kind", [ParameterError, sweep.SweepError])
def test_what_the_science_refuses_is_named_by_field(kind: Any) -> None:
    error = kind({"window": Message("“%(text)s” is too small.", {"text": "1B"})})
    assert body(error) == (400, "Some fields are wrong: see “fields”.", {"window": ["“1B” is too small."]})


def test_a_wrong_unit_is_a_400() -> None:
    with pytest.raises(units.UnitError) as caught:
        units.parse_quantity("fast", "rate")
    status, detail, _fields = body(caught.value)
    assert status == 400
    assert "write a number and a unit" in detail


def test_a_failure_of_a_tool_says_what_to_do() -> None:
    failure = ToolFailure("refused", Message("Nobody listens."), True, Message("Start the server."))
    assert body(failure) == (400, "Nobody listens. Start the server.", {})
    assert body(ToolFailure("refused", Message("Nobody listens."), True)) == (400, "Nobody listens.", {})


def test_what_others_depend_on_is_a_conflict_with_their_list() -> None:
    dependents = {Team(pk=1, name="B"), Team(pk=2, name="A")}
    for error in (ProtectedError("x", dependents), RestrictedError("x", dependents)):
        response = answer(error)
        assert response.status_code == 409
        assert response.data["dependents"] == ["team: A", "team: B"]


def test_two_writers_at_once_are_a_conflict() -> None:
    status, detail, _fields = body(racing.collision())
    assert status == 409
    assert "duplicate key" not in detail


def test_what_the_database_keeps_from_being_changed_is_a_conflict_in_words() -> None:
    error = IntegrityError("a sample never changes")
    error.__cause__ = psycopg.errors.IntegrityConstraintViolation("a sample never changes")
    assert body(error) == (409, "What was measured, published or frozen never changes: nothing was stored.", {})


def test_a_value_the_database_cannot_hold_is_a_400() -> None:
    assert body(DataError("integer out of range"))[0] == 400


def test_refusals_keep_their_status_and_reason() -> None:
    assert body(exceptions.NotAuthenticated("Sign in."))[:2] == (401, "Sign in.")
    assert body(Http404())[0] == 404
    assert body(PermissionDenied("Your role is too low."))[:2] == (403, "Your role is too low.")
    assert body(exceptions.Throttled(wait=3))[0] == 429


def test_a_fault_of_ours_is_not_dressed_up() -> None:
    assert api.exception_handler(ZeroDivisionError(), {}) is None


def test_messages_by_field_become_an_error() -> None:
    error = api.field_errors({"a": Message("%(n)s is odd", {"n": 3})})
    assert error.detail == {"a": ["3 is odd"]}
