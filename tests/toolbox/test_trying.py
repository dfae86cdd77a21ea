"""Outputs that definitions are tried on: whatever they hold, they cost little and stop nobody else."""

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from apps.bench import custom
from apps.bench.custom.paths import read_document
from apps.core.limits.fair_places import FairPlaces, Owners
from apps.toolbox import attempts
from tests import factories

TRY = "/api/v1/team-tools/try/"


def send(client: Client, person: Any, definition: dict[str, Any], output: str) -> Any:
    body = json.dumps({"definition": definition, "output": output})
    return client.post(TRY, body, content_type="application/json", **factories.bearer(person))


def with_finders(definition: dict[str, Any], finder: dict[str, Any], count: int) -> dict[str, Any]:
    """Return a definition with so many metrics, each found alike."""
    metric = {key: value for key, value in definition["metrics"][0].items() if key not in ("find", "where")}
    rules = [{**metric, "name": f"metric_{number}", **finder} for number in range(count)]
    return {**definition, "metrics": rules, "conditions": []}


def test_what_takes_too_long_is_ended_and_says_so(client: Client, cast: SimpleNamespace, definition: Any) -> None:
    greedy = with_finders(definition, {"find": "regex", "where": r"(\d)", "take": "sum"}, 30)
    answer = send(client, cast.alice, greedy, "1 " * 400_000)
    assert answer.status_code == 200, answer.content
    assert "too long" in answer.json()["reason"]
    assert answer.json()["remedy"]
    assert len(answer.json()["commands"]) == 1


def test_only_who_manages_a_team_tries(client: Client, cast: SimpleNamespace, definition: Any) -> None:
    for person, code in ((cast.bob, 403), (cast.oscar, 403), (cast.alice, 200)):
        assert send(client, person, definition, "none").status_code == code


def test_one_at_a_time_of_each_person_and_team_and_few_in_all(
    client: Client, cast: SimpleNamespace, definition: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_places", FairPlaces(attempts.AT_ONCE, wait_s=0.05))
    for held in (Owners(f"person {cast.alice.pk}"), Owners("another", (f"team {cast.team.pk}",))):
        with attempts._places.turn(held):
            answer = send(client, cast.alice, definition, "none")
            assert answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0
            assert send(client, cast.charlie, definition, "none").status_code == 200
            with attempts._places.turn(Owners("third")):
                assert send(client, cast.charlie, definition, "none").status_code == 429
        assert send(client, cast.alice, definition, "none").status_code == 200


def test_a_program_that_dies_is_told_like_one_that_takes_too_long(
    cast: SimpleNamespace, definition: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts.sys, "executable", "/bin/false")
    attempt = attempts.try_definition(user=cast.alice, definition=custom.read_definition(definition), output="some")
    assert attempt.failure and attempt.failure.code == "too-long"


def test_a_document_is_looked_for_in_the_time_of_one_reading() -> None:
    nested = "".join("[" * 1 + f"{number},\n" for number in range(300)) + "1," * 200_000
    began = time.process_time()
    assert read_document(nested) is None
    one = time.process_time() - began
    began = time.process_time()
    assert read_document(nested * 2) is None
    assert time.process_time() - began < 20 * max(one, 0.01)
    # Lines of a log cost nothing: a document after them is found.
    assert read_document("[info] begun\n" * 900 + '{"a": 1}') == {"a": 1}
