"""What takes many rows at once is bounded: as many as a list takes ask at most twice the queries of 9 of them.

And take a bounded multiple of the processor's time: no body keeps a web process from answering others.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.testbeds.models import Cluster, Link, Node, Site, Switch
from tests.rest import schema, world
from tests.rest.examples import examples
from tests.rest.test_conditions import address
from tests.rotation import part_of

pytestmark = pytest.mark.django_db
Json = dict[str, Any]
FEW, MANY = 9, 1000
# Nodes are joined by switches, of which each but the first leads to the first.
SWITCHES = 60
# A row among as many as are taken costs at most so many times what one among few does (s of a processor). Where the
# cost grows with the square of the rows it is fifty times and more.
MOST_TIMES_PER_ROW = 2
# A list that may not be so long is bounded by itself.
SHORT = 100


# A benchmark of as many nodes as there are.
MANY_NODES = {"tool": "imb", "fixed": {}, "factors": []}
TAKEN = {
    *("POST /clusters/ nodes", "PUT /clusters/{id}/ nodes", "POST /file-systems/ mounts"),
    *("PUT /file-systems/{id}/ mounts", "POST /nodes/ addresses", "PUT /nodes/{id}/ addresses"),
    *("POST /inventory/ inventory", "POST /management-reports/ sites", "POST /testbeds/{id}/add-nodes/ names"),
    *("POST /experiments/ roles", "PUT /experiments/{id}/ roles", "POST /experiments/preview/ roles"),
    *("POST /experiments/ values", "POST /experiments/preview/ values", "POST /experiments/ exclusions"),
}


class Many:
    """MANY of what lists name, all of one team, the nodes joined by links."""

    def __init__(self, team: Any) -> None:
        owner, testbed, count = team.cast.team, team.a.testbed, range(MANY)
        self.nodes = Node.objects.bulk_create(Node(team=owner, testbed=testbed, name=f"many{n}") for n in count)
        self.clusters = Cluster.objects.bulk_create(Cluster(team=owner, name=f"many{n}") for n in count)
        self.sites = Site.objects.bulk_create(Site(team=owner, name=f"many{n}") for n in count)
        site = team.a.testbed.site
        switches = Switch.objects.bulk_create(Switch(team=owner, site=site, name=f"many{n}") for n in range(SWITCHES))
        ends = [*({"a_switch": switches[0], "b_switch": switch} for switch in switches[1:])]
        ends += [{"a_node": node, "b_switch": switches[n % SWITCHES]} for n, node in enumerate(self.nodes)]
        Link.objects.bulk_create(
            Link(team=owner, name=f"many{n}", capacity_bps=10**10 + n, rtt_s=1e-5, **end)
            for n, end in enumerate(ends)
        )
        self.group = team.read.groups[0]["key"]


# What stands in each list of a body, by its name; also in other bodies than those tried first.
ITEMS: dict[str, Callable[[Many, int], Any]] = {
    "players": lambda many, n: {"role": "client", "node": many.nodes[n].pk},
    "roles": lambda many, n: {"role": "node", "node": many.nodes[n].pk},
    "nodes": lambda many, n: many.nodes[n].pk,
    "mounts": lambda many, n: {"cluster": many.clusters[n].pk},
    "addresses": lambda many, n: {"address": f"10.{n // 200}.1.{n % 200}"},
    "tags": lambda many, n: f"tag{n}",
    "factors": lambda many, n: {"name": f"factor{n}", "expression": "1, 2"},
    "zips": lambda many, n: [f"factor{n}", "window"],
    "exclusions": lambda many, n: "window > 64 KiB",
    "sheets": lambda many, n: f"sheet{n}",
    "groups": lambda many, n: {"key": many.group if not n else f"{n}", "roles": {"client": [many.nodes[n].pk]}},
    "sites": lambda many, n: many.sites[n].pk,
    "recipients": lambda many, n: f"someone{n}@example.org",
}
# Of these the service takes fewer than the list does.
FEWER = {"exclusions": 20, "recipients": 50, "tags": 20}
# What else stands for many rows, and for how many at most.
TEXTS: dict[tuple[str, str], tuple[int, Callable[[int], Json]]] = {
    ("POST /testbeds/{id}/add-nodes/", "names"): (1000, lambda n: {"names": f"kg[0001-{n:04d}]", "addresses": ""}),
    ("POST /inventory/", "inventory"): (
        600,
        lambda n: {"inventory": "version: 1\nsites:\n" + "".join(f"- name: s{i}\n" for i in range(n))},
    ),
    ("POST /experiments/", "values"): (1000, lambda n: _sweep(n)),
    ("POST /experiments/preview/", "values"): (1000, lambda n: _sweep(n)),
}


def _sweep(count: int) -> Json:
    """Return a factor of so many values."""
    return {"factors": [{"name": "window", "expression": ", ".join(f"{n}KiB" for n in range(1, count + 1))}]}


def _lists(told: Json, within: tuple[str, ...] = ()) -> Iterator[tuple[str, int]]:
    """Yield (name, most) of each list that stands in a body."""
    parts = schema.document()["components"]["schemas"]
    name = told.get("$ref", "").rpartition("/")[2]
    if name and name not in within:
        yield from _lists(parts[name], (*within, name))
    for field, item in told.get("properties", {}).items():
        if item.get("type") == "array" and not item.get("readOnly"):
            yield field, item.get("maxItems", MANY)


def _doors() -> Iterator[tuple[str, str, int, str, Json]]:
    """Yield (key, field, most, path, operation) of each list or text by which a write takes many rows."""
    for path, method, operation in schema.operations(schema.document()):
        key = f"{method.upper()} {path.removeprefix('/api/v1')}"
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if method not in ("post", "put") or body is None:
            continue
        fields = {field: min(most, MANY) for field, most in _lists(body["schema"]) if most >= SHORT}
        fields = {field: min(most, FEWER.get(field, most)) for field, most in fields.items()}
        fields |= {field: most for (door, field), (most, _body) in TEXTS.items() if door == key}
        for field, most in sorted(fields.items()):
            yield key, field, most, path, operation


def _given(many: Many, key: str, field: str, count: int) -> Json:
    """Return the fields of a body that takes so many rows."""
    if (key, field) in TEXTS:
        return TEXTS[key, field][1](count)
    items = {field: [ITEMS[field](many, n) for n in range(count)]}
    return items | (MANY_NODES if field == "roles" else {})


def test_many_rows_cost_few_queries_and_little_time_at_every_door(team: Any) -> None:
    told, places, many = examples(team), world.addresses(team), Many(team)
    costs, taken, refused = {}, set(), {}
    doors = list(_doors())
    assert {f"{key} {field}" for key, field, *_rest in doors} >= TAKEN
    for key, field, most, path, operation in part_of(doors):
        example, headers = told.get(key, {}), world.header(team, path)
        asked = []
        # The first request of a kind reads what the process keeps.
        for count in (FEW, FEW, most):
            body = {**example.get("body", {}), **_given(many, key, field, count)}
            with transaction.atomic(), CaptureQueriesContext(connection) as queries:
                began = time.process_time()
                answer = Client().generic(
                    key.partition(" ")[0],
                    address(path, operation, example, places),
                    json.dumps(body),
                    content_type="application/json",
                    **headers,
                )
                took = time.process_time() - began
                transaction.set_rollback(True)
            assert answer.status_code < 500, (key, field, answer.content)
            asked.append((len(queries), took / count))
        if answer.status_code < 300:
            taken.add(f"{key} {field}")
        costs[f"{key} {field}"], refused[f"{key} {field}"] = (asked[1], asked[2]), answer.content[:300]
    # (queries, seconds of a processor a row) of few rows, and of as many as are taken.
    assert {door: cost for door, cost in costs.items() if cost[1][0] > 2 * cost[0][0]} == {}
    assert {door: cost for door, cost in costs.items() if cost[1][1] > MOST_TIMES_PER_ROW * cost[0][1]} == {}
    # What takes so many at all was carried out with them, not refused at the door.
    missing = TAKEN & costs.keys() - taken
    assert not missing, {door: (costs[door], refused[door]) for door in missing}
