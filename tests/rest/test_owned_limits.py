"""Every write that would make more than may be is 409 over REST, and names the setting; none breaks."""

import re
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import transaction
from django.test import Client

from tests import limits
from tests.rest import schema, world
from tests.rest.examples import examples
from tests.rest.test_conditions import address

pytestmark = pytest.mark.django_db
SETTINGS = re.compile(r"\b[A-Z_]+_PER_[A-Z]+\b")
# A draft is a campaign, and asked of before it; a team's first membership is asked of its person and its team at
# once; a mapping is kept where columns are named, if it is given a name.
ELSEWHERE = {"CAMPAIGNS_PER_TEAM", "TEAMS_PER_PERSON", "MAPPINGS_PER_TEAM"}
# What is sent is taken whole; what it makes is refused by the worker (tests/archive/test_owned_limits.py).
UPLOADS = {"POST /imports/", "POST /campaign-archives/"}


def _headers(team: Any) -> dict[str, dict[str, str]]:
    """Return {path: header} with tokens that are there before any limit is."""
    return {path: world.header(team, path) for path, _method, _operation in schema.operations(schema.document())}


def _sent(team: Any, headers: dict[str, dict[str, str]]) -> dict[str, tuple[int, str]]:
    """Return {operation: (status, answer)} of every write that makes something."""
    told, places, found = examples(team), world.addresses(team), {}
    for path, method, operation in schema.operations(schema.document()):
        key = f"{method.upper()} {path.removeprefix('/api/v1')}"
        if method not in ("post", "put") or key in UPLOADS:
            continue
        example = told.get(key, {})
        with transaction.atomic():
            answer = getattr(Client(raise_request_exception=False), method)(
                address(path, operation, example, places),
                example.get("body", {}),
                content_type="application/json",
                **headers[path],
            )
            transaction.set_rollback(True)
        found[key] = (answer.status_code, answer.content.decode(errors="replace"))
    return found


def test_each_limit_is_a_conflict_wherever_it_is_met(team: Any, settings: Any) -> None:
    headers = _headers(team)
    before = {key for key, (status, _text) in _sent(team, headers).items() if status < 300}
    limits.bound(settings, -1)
    after = _sent(team, headers)
    assert [f"{key}: {answer}" for key, answer in after.items() if answer[0] >= 500] == []
    # What succeeded does, or names the limit that is in its way.
    wrong = {
        key: after[key]
        for key in before
        if after[key][0] >= 300 and not (after[key][0] == 409 and SETTINGS.search(after[key][1]))
    }
    assert wrong == {}
    named = {name for status, text in after.values() if status == 409 for name in SETTINGS.findall(text)}
    assert named | ELSEWHERE == set(configured.OWNED_LIMITS)
