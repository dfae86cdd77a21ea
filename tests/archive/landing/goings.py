"""Every way in which a name goes: of each field that holds names, by each door."""

import uuid
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from django.db.models import Model
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Membership, Team, User
from apps.agents.models import Agent, AgentInstance, FactSnapshot
from apps.testbeds.models import Cluster, FileSystem, Link, Node, NodeAddress, Site, Switch, Testbed
from tests import factories as people
from tests.testbeds import factories
from tests.testbeds.rest import ADDRESSES, Api

Door = Callable[[Client, SimpleNamespace, Any, str, Any], None]


def _instance(team: Team, **values: str) -> AgentInstance:
    agent = Agent.objects.create(node=factories.node(team), prefix=uuid.uuid4().hex[:16], digest="0")
    return AgentInstance.objects.create(agent=agent, key=uuid.uuid4(), **values)


def _facts(team: Team, facts: dict[str, Any]) -> FactSnapshot:
    return FactSnapshot.objects.create(node=factories.node(team), digest=uuid.uuid4().hex, facts=facts)


def _member(team: Team, **values: str) -> User:
    person = people.user(**{"name": values.pop("username", "")} | values)
    Membership.objects.create(team=team, user=person)
    return person


def _link(team: Team, name: str) -> Link:
    return factories.link(factories.switch(team), factories.switch(team), name=name)


# By model and field: what is made with a name.
MAKERS: dict[tuple[type[Model], str], Callable[[Team, Any], Any]] = {
    (Node, "name"): factories.node,
    (NodeAddress, "address"): lambda team, name: factories.node(team, "", name).addresses.get(),
    (FactSnapshot, "facts"): _facts,
    (AgentInstance, "host"): lambda team, name: _instance(team, host=name),
    (AgentInstance, "address"): lambda team, name: _instance(team, address=name),
    (Cluster, "name"): factories.cluster,
    (FileSystem, "name"): factories.file_system,
    (Testbed, "name"): factories.testbed,
    (Site, "name"): factories.site,
    (Switch, "name"): factories.switch,
    (Link, "name"): _link,
    (Site, "place"): lambda team, name: factories.site(team, place=name),
    (Testbed, "location"): lambda team, name: factories.testbed(team, location=name),
    (User, "username"): lambda team, name: _member(team, username=name),
    (User, "first_name"): lambda team, name: _member(team, first_name=name, last_name="Vqarlo"),
    (User, "last_name"): lambda team, name: _member(team, last_name=name),
}


def _saved(_client: Client, _cast: SimpleNamespace, row: Any, field: str, other: Any) -> None:
    setattr(row, field, other)
    row.save()


def _updated(_client: Client, _cast: SimpleNamespace, row: Any, field: str, other: Any) -> None:
    type(row).objects.filter(pk=row.pk).update(**{field: other})


def _deleted(_client: Client, _cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    row.delete()


def _deleted_in_bulk(_client: Client, _cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    type(row).objects.filter(pk__in=[row.pk]).delete()


def _by_page(client: Client, cast: SimpleNamespace, row: Any, field: str, other: Any) -> None:
    client.force_login(cast.oscar)
    address = reverse(f"testbeds:{row._meta.model_name}_update", args=[row.pk])
    shown = client.get(address).context["form"]
    values = {bound.html_name: bound.value() or "" for bound in shown} | {field: other}
    assert client.post(address, values).status_code == 302, address


def _deleted_by_page(client: Client, cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    client.force_login(cast.oscar)
    address = reverse(f"testbeds:{row._meta.model_name}_delete", args=[row.pk])
    assert client.post(address).status_code == 302, address


def _by_rest(client: Client, cast: SimpleNamespace, row: Any, field: str, other: Any) -> None:
    client.logout()
    Api(client, cast.oscar).patch(f"{ADDRESSES[row._meta.model_name]}/{row.pk}/", {field: other})


def _deleted_by_rest(client: Client, cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    client.logout()
    Api(client, cast.oscar).delete(f"{ADDRESSES[row._meta.model_name]}/{row.pk}/", status=204)


def _address_by_rest(client: Client, cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    client.logout()
    Api(client, cast.oscar).patch(f"nodes/{row.node_id}/", {"addresses": []})


def _with_its_node(_client: Client, _cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    Node.objects.filter(pk=row.node_id).delete()


def _to_another_team(_client: Client, cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    Node.objects.filter(pk=getattr(row, "node_id", row.pk)).update(team=cast.other_team)


def _by_the_next_snapshot(_client: Client, _cast: SimpleNamespace, row: Any, _field: str, other: Any) -> None:
    FactSnapshot.objects.create(node=row.node, digest="next", facts=other)


def _with_its_agent(_client: Client, _cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    row.agent.delete()


def _left_by_page(client: Client, cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    client.force_login(row)
    pk = row.memberships.get().pk
    assert client.post(f"/accounts/teams/{cast.team.slug}/members/{pk}/remove/").status_code == 302


def _removed_by_rest(client: Client, cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    client.logout()
    Api(client, cast.alice).delete(f"memberships/{row.memberships.get().pk}/", status=204)


def _removed_with_others(_client: Client, cast: SimpleNamespace, row: Any, _field: str, _other: Any) -> None:
    cast.team.members.remove(row)


def _by_the_administrators_page(client: Client, _cast: SimpleNamespace, row: Any, field: str, other: Any) -> None:
    client.force_login(_administrator())
    values = {name: getattr(row, name) for name in ("username", "first_name", "last_name", "timezone", "theme")}
    moment = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    address = f"/admin/accounts/user/{row.pk}/change/"
    assert client.post(address, values | moment | {field: other}).status_code == 302


def _deleted_by_the_administrators_page(
    client: Client, _cast: SimpleNamespace, row: Any, _field: str, _other: Any
) -> None:
    client.force_login(_administrator())
    chosen = {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"}
    client.post("/admin/accounts/user/", chosen)
    assert not User.objects.filter(pk=row.pk).exists()


def _administrator() -> User:
    return User.objects.filter(username="root").first() or User.objects.create_superuser("root", password="secret")


ANY: tuple[Door, ...] = (_saved, _updated, _deleted, _deleted_in_bulk)
INVENTORY: tuple[Door, ...] = (_by_page, _by_rest, _deleted_by_page, _deleted_by_rest)
DOORS: dict[type[Model], tuple[Door, ...]] = {
    **dict.fromkeys((Cluster, FileSystem, Testbed, Site, Switch, Link), (*ANY, *INVENTORY)),
    Node: (*ANY, *INVENTORY, _to_another_team),
    NodeAddress: (*ANY, _address_by_rest, _with_its_node, _to_another_team),
    # The database refuses to change them.
    FactSnapshot: (_deleted, _deleted_in_bulk, _with_its_node, _by_the_next_snapshot, _to_another_team),
    AgentInstance: (*ANY, _with_its_agent),
    User: (
        *ANY, _left_by_page, _removed_by_rest, _removed_with_others, _by_the_administrators_page,
        _deleted_by_the_administrators_page,
    ),
}  # fmt: skip


def goings() -> Iterator[tuple[type[Model], str, Door]]:
    """Yield each field that holds names with each door by which one goes."""
    for model, field in MAKERS:
        for door in DOORS[model]:
            yield model, field, door
