"""Whoever has a sweep worked out has a turn, and holds nothing meanwhile: 100,000 points take seconds."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.bench import sweep
from apps.campaigns import turns
from apps.tuning.proposals import draft_proposals
from tests import factories
from tests.campaigns import browsing
from tests.rest import schema, world
from tests.rest.examples import examples
from tests.rest.test_conditions import address

# Operations that work a sweep out, of which others may not be fewer.
KNOWN = {
    "get /experiments/{id}/preview/", "get /experiments/{id}/already/", "get /campaigns/{id}/preview/",
    "post /experiments/", "post /experiments/preview/", "put /experiments/{id}/", "patch /experiments/{id}/",
    "post /campaigns/{id}/launch/", "post /campaigns/run/", "post /campaign-templates/{slug}/draft/",
    "post /findings/{id}/verify/",
}  # fmt: skip


class Watch:
    """Notes what is wrong whenever a sweep is worked out."""

    def __init__(self, expand: Callable[..., Any]) -> None:
        self._expand = expand
        self.begin("")

    def begin(self, door: str) -> None:
        self.door, self.depth, self.count = door, len(connection.savepoint_ids), 0
        self.wrong: list[str] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        if not turns.has_turn():
            self.wrong.append(f"{self.door}: a sweep is worked out without a turn")
        if len(connection.savepoint_ids) > self.depth:
            self.wrong.append(f"{self.door}: a sweep is worked out within a transaction")
        return self._expand(*args, **kwargs)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch(sweep.expand_points)
    monkeypatch.setattr(sweep, "expand_points", watch)
    return watch


@pytest.mark.parametrize("condition", [None, "*"])
def test_every_operation_has_a_turn_and_holds_nothing_while_a_sweep_is_worked_out(
    team: Any, watch: Watch, condition: str | None
) -> None:
    client, told, places = Client(raise_request_exception=False), examples(team), world.addresses(team)
    doors, wrong = set(), []
    for path, method, operation in schema.operations(schema.document()):
        name = path.removeprefix("/api/v1")
        example = told.get(f"{method.upper()} {name}", {})
        if condition and method not in ("put", "patch"):
            continue
        headers = world.header(team, path) | ({"HTTP_IF_MATCH": condition} if condition else {})
        with transaction.atomic():
            try:
                place = address(path, operation, example, places)
            except KeyError:
                continue
            watch.begin(f"{method} {name}")
            body = json.dumps(example.get("body", {}), default=lambda _value: "")
            query = urlencode(example.get("query", {}), doseq=True)
            sent = {} if method == "get" else {"data": body, "content_type": "application/json"}
            client.generic(method.upper(), f"{place}?{query}", **sent, **headers)
            doors |= {watch.door} if watch.count else set()
            wrong += watch.wrong
            transaction.set_rollback(True)
    assert wrong == []
    assert {name for name in KNOWN if not condition or name.startswith(("put", "patch"))} <= doors


def pages(team: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return {page: (address, what is sent)} of those that work a sweep out; what is sent is {} for a GET."""
    pair, draft = [team.a, team.b], team.draft.pk
    form = browsing.form(pair)
    of_campaign = {name: reverse(f"campaigns:{name}", args=[draft]) for name in ("launch", "confirm_launch")}
    return {
        "create": (reverse("campaigns:experiment_create", args=[draft]), form),
        "create with a slip": (reverse("campaigns:experiment_create", args=[draft]), form | {"repetitions": "many"}),
        "update": (reverse("campaigns:experiment_update", args=[team.drafted.pk]), form),
        "update with a slip": (
            reverse("campaigns:experiment_update", args=[team.drafted.pk]),
            form | {"repetitions": "many"},
        ),
        "preview": (reverse("campaigns:experiment_preview", args=[draft]), form),
        "preview with a slip": (
            reverse("campaigns:experiment_preview", args=[draft]),
            form | {"repetitions": "many"},
        ),
        "confirm": (of_campaign["confirm_launch"], {}),
        "launch": (of_campaign["launch"], {"digest": ""}),
        "already": (reverse("archive:already", args=[draft]), form),
        "verify": (reverse("tuning:verify", args=[team.proven.pk]), {"sent": "1"}),
    }


def test_every_page_has_a_turn_and_holds_nothing_while_a_sweep_is_worked_out(team: Any, watch: Watch) -> None:
    client = Client()
    client.force_login(team.cast.alice)
    wrong = []
    for page, (place, data) in pages(team).items():
        with transaction.atomic():
            watch.begin(page)
            client.post(place, data) if data else client.get(place)
            wrong += watch.wrong + ([] if watch.count else [f"{page}: no sweep is worked out"])
            transaction.set_rollback(True)
    assert wrong == []


def test_what_is_proposed_is_worked_out_so(team: Any, watch: Watch) -> None:
    """Of findings, workloads and pairs of sites."""
    watch.begin("proposals")
    roles = {"client": [team.a.name], "server": [team.b.name]}
    draft_proposals(
        team=team.cast.team, user=team.cast.oscar, name="x", goal="", now=timezone.now(),
        proposals=[{"tool": "iperf3-tcp", "roles": roles, "factors": {"window": "64KiB, 1MiB"}}],
    )  # fmt: skip
    assert (watch.count, watch.wrong) == (1, [])


def test_a_turn_within_a_turn_is_the_same(cast: factories.Cast) -> None:
    with turns.sweep_turn(cast.oscar):
        with turns.sweep_turn(cast.oscar):
            assert turns.has_turn()
        assert turns.has_turn()
    assert not turns.has_turn()
