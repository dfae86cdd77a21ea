"""Whom agents are told to call: what a node's own agent reports, or a manager entered or confirmed; nothing else."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.agents.models import Agent, FactSnapshot
from apps.agents.services.facts import record_facts
from apps.agents.services.jobs import deliver_jobs
from apps.testbeds import queries
from apps.testbeds.models import Node, NodeAddress
from tests import factories as people
from tests.agents import factories as agents
from tests.testbeds import factories
from tests.testbeds.rest import Api

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
ENTERED, FORMER = "198.51.100.7", "192.0.2.1"
LISTED = [{"address": FORMER}, {"address": ENTERED}]

# (who enters it, a node of the team, the addresses that are written) by the module through which it is.
DOORS: dict[str, dict[str, Callable[[User, Node], object]]] = {
    "apps.testbeds.views.items": {
        "page, new": lambda who, node: _post(
            who, "nodes/new/", name="new", testbed=node.testbed_id, addresses=ENTERED
        ),
        "page, changed": lambda who, node: _post(
            who, f"nodes/{node.pk}/edit/", name=node, testbed=node.testbed_id, addresses=f"{FORMER}\n{ENTERED} eth1"
        ),
    },
    "apps.testbeds.views.actions": {
        "page, pattern": lambda who, node: _post(
            who, f"testbeds/{node.testbed_id}/nodes/", names="n[1-2]", addresses="198.51.100.[7-8]"
        )
    },
    "apps.testbeds.views.overview": {
        "page, file": lambda who, node: _post(who, "import/", inventory=_file(node), confirmed="on"),
    },
    "apps.testbeds.api.items": {
        "POST": lambda who, node: _api(who).post(
            "nodes/", {"name": "new", "testbed": node.testbed_id, "addresses": LISTED[1:]}, status=201
        ),
        "POST that says that it is confirmed": lambda who, node: _api(who).post(
            "nodes/", {"name": "new", "testbed": node.testbed_id, "addresses": [_forged(who)]}, status=201
        ),
        "PUT": lambda who, node: _api(who).put(
            f"nodes/{node.pk}/", {"name": node.name, "testbed": node.testbed_id, "addresses": LISTED}
        ),
        "PATCH": lambda who, node: _api(who).patch(f"nodes/{node.pk}/", {"addresses": LISTED}),
        "PATCH in another's place": lambda who, node: _api(who).patch(
            f"nodes/{node.pk}/", {"addresses": [_forged(who)]}
        ),
        "add-nodes": lambda who, node: _api(who).post(
            f"testbeds/{node.testbed_id}/add-nodes/", {"names": "n[1-2]", "addresses": "198.51.100.[7-8]"}, status=201
        ),
    },
    "apps.testbeds.api.files": {
        "file": lambda who, node: _api(who).post("inventory/", {"inventory": _file(node)}),
        "file of many": lambda who, node: _api(who).post("inventory/", {"inventory": _file(node, more=20)}),
    },
}
# Who uses the server's command line may do everything.
COMMANDS = {"apps.testbeds.management.commands.inventory"}
# What others wrote: nobody answers for addresses in it.
FOREIGN = {
    "apps.testbeds.inventory.example",
    "apps.tuning.published.importing",
    "apps.archive.campaigns.store.choices",
}
WRITERS = {"create_item", "update_item", "add_nodes", "import_inventory", "store_items", "change_items"}


def _post(who: User, path: str, **form: object) -> None:
    assert people.signed_in(who).post(f"/inventory/{path}?team=grid", form | {"team": "grid"}).status_code == 302


def _api(who: User) -> Api:
    return Api(Client(), who)


def _forged(who: User) -> dict[str, object]:
    now = timezone.now().isoformat()
    return {**LISTED[1], "confirmed_at": now, "confirmed_by": who.username, "reported_at": now, "counts": True}


def _file(node: Node, more: int = 0) -> str:
    lines = [f"- {{name: {node.name}, testbed: {node.testbed}, addresses: [{FORMER}, {ENTERED}]}}"]
    lines += [f"- {{name: m{n}, testbed: {node.testbed}, addresses: [203.0.113.{n}]}}" for n in range(more)]
    return "nodes:\n" + "\n".join(lines)


def told(agent: Agent, *addresses: str) -> list[str]:
    """Return which addresses an agent is told with a job that names these."""
    job = agents.job(agent.node, "ping", *addresses)
    jobs = deliver_jobs(agent_id=agent.pk, held=[], stopping=[], is_first_look=False).jobs
    return next(handed.inventory for handed in jobs if handed.pk == job.pk)


def report(agent: Agent, *addresses: object) -> None:
    """Let an agent report an interface with these addresses."""
    facts = {"interfaces": [{"name": "eth0", "addresses": list(addresses)}]}
    record_facts(agent_id=agent.pk, facts=facts, version="1")


@pytest.fixture
def cast() -> people.Cast:
    return people.cast()


@pytest.fixture
def agent(cast: people.Cast) -> Agent:
    """Return the agent of a node with a confirmed address."""
    return agents.agent(factories.node(cast.team, "dj-b", FORMER))[0]


EVERY_DOOR = [(module, door) for module, doors in DOORS.items() for door in doors]


@pytest.mark.parametrize(("module", "door"), EVERY_DOOR)
def test_an_operators_new_address_is_told_to_no_agent(
    cast: people.Cast, agent: Agent, module: str, door: str
) -> None:
    DOORS[module][door](cast.oscar, agent.node)
    assert NodeAddress.objects.filter(address=ENTERED, confirmed_at=None, confirmed_by=None).exists()
    assert ENTERED not in told(agent, ENTERED, FORMER)
    if NodeAddress.objects.filter(address=FORMER).exists():
        assert told(agent, FORMER) == [FORMER], "one that stays keeps its standing"


@pytest.mark.parametrize(("module", "door"), EVERY_DOOR)
def test_a_managers_new_address_counts(cast: people.Cast, agent: Agent, module: str, door: str) -> None:
    DOORS[module][door](cast.alice, agent.node)
    assert NodeAddress.objects.get(address=ENTERED).confirmed_by == cast.alice
    assert told(agent, ENTERED) == [ENTERED]


@pytest.mark.parametrize(
    ("module", "door"),
    [pair for pair in EVERY_DOOR if pair[1].startswith(("page, changed", "page, file", "PUT", "file"))],
)
def test_nobody_confirms_by_writing_again_what_an_operator_entered(
    cast: people.Cast, agent: Agent, module: str, door: str
) -> None:
    _api(cast.oscar).patch(f"nodes/{agent.node_id}/", {"addresses": LISTED[1:]})
    DOORS[module][door](cast.alice, agent.node)
    assert agent.node.addresses.count() == 2
    assert told(agent, ENTERED, FORMER) == [FORMER]


def test_every_door_is_tried() -> None:
    using = set()
    for path in (ROOT / "apps").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if module.startswith(("apps.testbeds.services", "apps.testbeds.inventory.store")):
            continue
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        writing = [call for call in calls if getattr(call.func, "attr", getattr(call.func, "id", "")) in WRITERS]
        using |= {module} if writing else set()
        words = {word.arg for call in writing for word in call.keywords}
        assert "confirmation" not in words or module in {*DOORS, *COMMANDS}, module
    assert using == {*DOORS, *COMMANDS, *FOREIGN}


def test_a_copy_of_a_node_has_none_of_its_addresses(cast: people.Cast, agent: Agent) -> None:
    copy = _api(cast.oscar).post(f"nodes/{agent.node_id}/clone/", {"name": "copy"}, status=201)
    assert copy["addresses"] == []


def test_what_is_entered_anew_after_a_manager_took_it_away_does_not_count(cast: people.Cast, agent: Agent) -> None:
    for who, rows in ((cast.alice, []), (cast.oscar, LISTED[:1])):
        _api(who).patch(f"nodes/{agent.node_id}/", {"addresses": rows})
    assert told(agent, FORMER) == []


def test_what_the_nodes_own_agent_reports_counts_and_what_another_reports_does_not(
    cast: people.Cast, agent: Agent
) -> None:
    other, _token = agents.agent(factories.node(cast.team, "dj-c"))
    rows = [{"address": ENTERED}, {"address": "2001:DB8::7"}, {"address": "dtn.example.org"}]
    _api(cast.oscar).patch(f"nodes/{agent.node_id}/", {"addresses": rows})
    addresses = [row["address"] for row in rows]
    report(other, f"{ENTERED}/24", "2001:db8::7/64", "dtn.example.org")
    assert told(agent, *addresses) == []
    report(agent, f"{ENTERED}/24", "2001:db8::7/64", "dtn.example.org", "nonsense")
    assert told(agent, *addresses) == [ENTERED, "2001:DB8::7"], "a name is none of an interface"
    listed = _api(cast.bob).get(f"nodes/{agent.node_id}/")["addresses"]
    assert [(bool(row["reported_at"]), row["counts"]) for row in listed] == [
        (True, True),
        (True, True),
        (False, False),
    ]
    assert _api(cast.bob).get("nodes/?name=dj-b")["results"][0]["addresses"] == listed
    report(agent)
    assert told(agent, ENTERED) == [ENTERED], "one that restarts reports before its addresses are there"


def test_an_address_that_the_agent_reported_before_it_was_entered_counts(cast: people.Cast, agent: Agent) -> None:
    report(agent, f"{ENTERED}/24")
    _api(cast.oscar).patch(f"nodes/{agent.node_id}/", {"addresses": LISTED[1:]})
    assert told(agent, ENTERED) == [ENTERED]


@pytest.mark.parametrize("changed", [{"facts__archive_ref": "fathom-1"}, {"retired_at": timezone.now()}])
def test_facts_of_archives_and_of_retired_agents_confirm_nothing(
    cast: people.Cast, agent: Agent, changed: dict[str, Any]
) -> None:
    report(agent, f"{ENTERED}/24")
    rows = Agent.objects.filter(pk=agent.pk)
    if "retired_at" in changed:
        rows.update(**changed)
    else:
        FactSnapshot.objects.filter(node=agent.node).update(archive_ref=changed["facts__archive_ref"])
    _api(cast.oscar).patch(f"nodes/{agent.node_id}/", {"addresses": LISTED[1:]})
    assert queries.counting(teams=[cast.team.pk], addresses=[ENTERED]) == set()


def test_facts_of_no_form_confirm_nothing(cast: people.Cast, agent: Agent) -> None:
    _api(cast.oscar).patch(f"nodes/{agent.node_id}/", {"addresses": LISTED[1:]})
    wrong: list[Any] = [{}, {"interfaces": None}, {"interfaces": ENTERED}, {"interfaces": [{"addresses": ENTERED}]}]
    for facts in wrong:
        record_facts(agent_id=agent.pk, facts=facts, version="1")
        assert told(agent, ENTERED) == []


def test_a_manager_confirms_on_the_nodes_page_and_nobody_else(cast: people.Cast, agent: Agent) -> None:
    _api(cast.oscar).patch(f"nodes/{agent.node_id}/", {"addresses": LISTED})
    page, path = agent.node.get_absolute_url(), f"/inventory/nodes/{agent.node_id}/confirm/"
    for who, status in ((cast.oscar, 403), (cast.bob, 403), (cast.charlie, 404)):
        assert people.signed_in(who).post(path, {"address": ENTERED}).status_code == status
    text = people.signed_in(cast.oscar).get(page).content.decode()
    assert "Ask a manager of the team to confirm it (alice)" in text
    assert path not in text
    assert told(agent, ENTERED) == []
    manager = people.signed_in(cast.alice)
    assert f'action="{path}"' in manager.get(page).content.decode()
    answer = manager.post(path, {"address": ENTERED}, follow=True).content.decode()
    assert "confirmed by alice" in answer
    assert path not in answer
    assert told(agent, ENTERED, FORMER) == [FORMER, ENTERED]
    assert (
        "has no address 192.0.2.99 any more"
        in manager.post(path, {"address": "192.0.2.99"}, follow=True).content.decode()
    )
    _api(cast.oscar).patch(f"nodes/{agent.node_id}/", {"addresses": [LISTED[1], {"address": "198.51.100.8"}]})
    assert told(agent, ENTERED, "198.51.100.8") == [ENTERED]
    cast.alice.delete()
    assert told(agent, ENTERED) == [ENTERED]


def test_what_stood_there_at_the_upgrade_counts(cast: people.Cast) -> None:
    node = factories.node(cast.team, "old", FORMER)
    with connection.cursor() as cursor:
        # So that tables can be altered in the test's transaction.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for name in ("0001_tables", "0002_confirmed_addresses"):
        MigrationExecutor(connection).migrate([("testbeds", name)])
    row = node.addresses.get()
    assert (row.counts, row.confirmed_by) == (True, None)
