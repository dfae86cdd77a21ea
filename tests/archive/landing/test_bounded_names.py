"""Names that agents tell: how many are kept, how long they may be, and that they are read once for all who look."""

import ipaddress
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, models
from django.db.models import Value
from django.db.models.functions import Concat
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from apps.accounts.models import User
from apps.agents import services
from apps.agents.endpoint.protocol import facts_of
from apps.agents.endpoint.room import Problem
from apps.agents.facts import LONGEST_NAME, MOST_ADDRESSES, MOST_INTERFACES
from apps.agents.models import AgentInstance, FactSnapshot
from apps.archive.landing.redaction import Hidden, known
from apps.archive.landing.redaction.named import NAMED, NamingField
from apps.archive.models import FormerName
from apps.campaigns.models import Campaign
from apps.core.limits.fair_places import Owners
from apps.testbeds.models import Node, Site
from tests.agents import factories as agents
from tests.archive.landing.goings import MAKERS
from tests.factories import signed_in
from tests.testbeds import factories

pytestmark = pytest.mark.django_db
K = FormerName.Kind
TOLD = (K.HOST, K.INTERFACE, K.MACHINE)


def told(first: int, number: int) -> dict[str, Any]:
    """Return facts of so many interfaces, each with one address."""
    places = range(first, first + number)
    return {
        "hostname": f"zqhost{first}",
        "interfaces": [
            {
                "mac": ":".join(f"{sign:02x}" for sign in (2, 0, *place.to_bytes(4))),
                "addresses": [f"{ipaddress.ip_address((10 << 24) + place)}/8"],
            }
            for place in places
        ],
    }


def kept(node: Node, kind: str) -> set[str]:
    return set(FormerName.objects.filter(owner=node.pk, kind=kind).values_list("name", flat=True))


def test_many_reports_of_many_addresses_leave_as_many_names_as_a_node_may_have(cast: Any) -> None:
    agent, _token = agents.agent(factories.node(cast.team))
    for place in range(4):
        facts, _version = facts_of({"facts": told(place * 25_000, 25_000), "version": "1"})
        assert facts["left_out"] == {"interfaces": 25_000 - MOST_INTERFACES, "addresses": 25_000 - MOST_ADDRESSES}
        assert services.record_facts(agent_id=agent.pk, facts=facts, version="1")
    page = signed_in(cast.bob).get(f"/agents/nodes/{agent.node_id}/").content.decode()
    assert "22952 interfaces and 22952 addresses are left out" in page.replace(",", "")
    assert [len(kept(agent.node, kind)) for kind in TOLD] == [4, MOST_ADDRESSES, MOST_INTERFACES]
    # Of the latest report all are hidden.
    assert kept(agent.node, K.INTERFACE) == {one["addresses"][0][:-2] for one in facts["interfaces"]}


@pytest.mark.parametrize("named", [one for one in NAMED if one.kind not in TOLD], ids=str)
def test_of_one_that_is_renamed_without_end_the_latest_names_are_kept(named: NamingField, cast: Any) -> None:
    is_address = named.kind == K.ADDRESS
    names = [f"10.9.{number >> 8}.{number & 255}" if is_address else f"zqname{number}" for number in range(120)]
    row = MAKERS[named.model, named.field](cast.team, names[0])
    others = FormerName.objects.exclude(kind=named.kind).count()
    # The first is had again, and given up again, later than the rest.
    for name in (*names[1:], names[0], "10.10.0.0" if is_address else "zqlast"):
        named.model._default_manager.filter(pk=row.pk).update(**{named.field: name})
    column = "family" if named.field == "last_name" else "name"
    rows = FormerName.objects.filter(kind=named.kind).order_by("pk").values_list(column, flat=True)
    assert list(rows) == [*names[21:], names[0]]
    assert FormerName.objects.exclude(kind=named.kind).count() - others in (0, 1)


def test_of_what_a_team_makes_and_deletes_the_latest_names_are_kept(cast: Any) -> None:
    gone = [
        FormerName(team=cast.team, kind=K.SITE, owner=10**6 + number, name=f"zq{number}") for number in range(17_000)
    ]
    FormerName.objects.bulk_create(gone, batch_size=5000)
    others = FormerName.objects.bulk_create([FormerName(team=cast.other_team, kind=K.SITE, owner=1, name="zqother")])
    site = MAKERS[Site, "name"](cast.team, "zqsite")
    for number in range(257):
        Site.objects.filter(pk=site.pk).update(name=f"zqsite{number}")
    names = FormerName.objects.filter(team=cast.team).exclude(kind__in=TOLD)
    assert 16_384 <= names.count() <= 16_384 + 256
    assert names.filter(name="zqsite255").exists()
    assert not names.filter(name="zq0").exists()
    assert FormerName.objects.filter(pk=others[0].pk).exists()


def test_what_is_told_in_another_way_is_bounded_as_well(cast: Any) -> None:
    node = factories.node(cast.team)
    for place in range(2):
        FactSnapshot.objects.create(node=node, digest=str(place), facts=told(place * 3000, 3000))
    agent, _token = agents.agent(node)
    rows = [
        AgentInstance(
            agent=agent, key=uuid4(), host=f"zqmany{number}", address=f"10.200.{number >> 8}.{number & 255}"
        )
        for number in range(3000)
    ]
    AgentInstance.objects.bulk_create(rows)
    assert [len(kept(node, kind)) for kind in TOLD] == [2048, MOST_ADDRESSES, MOST_INTERFACES]
    AgentInstance.objects.filter(agent=agent).update(host=Concat(Value("zqother"), "host"))
    assert len(kept(node, K.HOST)) == 2048


def test_names_in_force_stay_however_long_they_are_told(cast: Any) -> None:
    node = factories.node(cast.team)
    own = {"mac": "0c:c4:7a:01:02:03", "addresses": ["172.31.9.8/24"]}
    for place in range(4):
        facts = told(place * 1000, 1000)
        facts["interfaces"].append(own)
        FactSnapshot.objects.create(node=node, digest=str(place), facts=facts)
    text = "0cc47a010203 ac1f0908"
    assert Hidden(cast.team.pk).text(text) == "address of node 1 address of node 1"
    # What was forgotten is hidden by its form still.
    assert "10.0.0.1" not in kept(node, K.INTERFACE)
    assert Hidden(cast.team.pk).text("10.0.0.1 02:00:00:00:00:01") == "address address"


def test_a_node_that_moves_takes_no_more_names_with_it(cast: Any) -> None:
    node = factories.node(cast.team)
    FactSnapshot.objects.create(node=node, digest="1", facts=told(0, 100))
    Node.objects.filter(pk=node.pk).update(team=cast.other_team)
    for team in (cast.team, cast.other_team):
        assert FormerName.objects.filter(team=team, owner=node.pk, kind=K.INTERFACE).count() == 100


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_no_text_of_any_length_is_too_long_to_be_kept_as_a_name(cast: Any, mode: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
    node = factories.node(cast.team)
    long = "zq" * 5000
    facts = {"hostname": long, "interfaces": [{"mac": long, "addresses": [f"{long}/8", "f" * 308]}]}
    FactSnapshot.objects.create(node=node, digest="1", facts=facts)
    assert {len(name) for kind in TOLD for name in kept(node, kind)} == {LONGEST_NAME}
    with connection.cursor() as cursor:
        for kind in FormerName.Kind:
            cursor.execute(
                "SELECT results_keep_name(%s, %s, 1, %s, %s)", [cast.team.pk, kind.value, "a" * 308, "b" * 308]
            )
    assert FormerName.objects.filter(owner=1, family="b" * 150).count() == len(FormerName.Kind)


@pytest.mark.parametrize("named", [one for one in NAMED if one.field != "facts"], ids=str)
def test_a_name_of_the_inventory_is_kept_whole(named: NamingField) -> None:
    field: Any = named.model._meta.get_field(named.field)
    column: Any = FormerName._meta.get_field("family" if named.field == "last_name" else "name")
    assert isinstance(field, models.CharField) and field.max_length <= column.max_length


@pytest.mark.parametrize(
    "facts",
    [
        {"hostname": "a" * 256},
        {"interfaces": [{"mac": "a" * 256}]},
        {"interfaces": [{"addresses": ["10.0.0.1/8", "f" * 308]}]},
    ],
    ids=str,
)
def test_the_door_refuses_longer_names_by_the_fact(facts: dict[str, Any]) -> None:
    with pytest.raises(Problem, match="255"):
        facts_of({"facts": facts, "version": "1"})


@pytest.fixture
def public(measured: Campaign) -> Campaign:
    """Return a measured campaign that everybody reads without names."""
    Campaign.objects.filter(pk=measured.pk).update(visibility="public", redacted=True)
    return Campaign.objects.get(pk=measured.pk)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Return how many names were compiled, each time that some are."""
    sizes: list[int] = []
    compile_names = known.dictionary_of
    monkeypatch.setattr(known, "dictionary_of", lambda entries: sizes.append(len(entries)) or compile_names(entries))
    known._kept.clear()
    yield sizes
    known._kept.clear()


def test_a_second_look_at_public_pages_reads_and_compiles_no_names(public: Campaign, compiled: list[int]) -> None:
    address = f"/c/{public.permanent_id}/"
    for path in (address, f"{address}recipe.yaml", f"/api/v1/permanent-ids/{public.permanent_id}/"):
        known._kept.clear()
        compiled.clear()
        for looks in range(3):
            with CaptureQueriesContext(
                connection,
            ) as queries:
                answer = Client().get(path)
            assert answer.status_code == 200
            read = [query for query in queries if "results_formername" in query["sql"] and "family" in query["sql"]]
            assert (len(compiled), len(read)) == (1, 0 if looks else 1)


def test_a_change_of_any_name_is_read_at_once(public: Campaign, compiled: list[int]) -> None:
    team = public.team
    for model, field, _kind in NAMED:
        if model is FactSnapshot:
            continue
        row = MAKERS[model, field](team, "10.77.9.1" if field == "address" and model is AgentInstance else "zqbefore")
        assert "zqbefore" not in Hidden(team.pk).name("zqbefore")
        other = "10.77.9.2" if field == "address" else "zqafter"
        model._default_manager.filter(pk=row.pk).update(**{field: other})
        written = other if field != "address" else "0a4d0902"
        assert written not in Hidden(team.pk).text(written), (model, field)
        row.delete() if model is not User else None


def test_what_is_kept_ready_is_bounded_and_in_each_language_its_own(
    cast: Any, compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.node(cast.team, "zqone")
    with translation.override("ko"):
        korean = Hidden(cast.team.pk).text("zqone")
    assert Hidden(cast.team.pk).text("zqone") == "node 1" != korean
    assert len(compiled) == 2
    User.objects.filter(pk=cast.bob.pk).update(language="ko")
    assert Hidden(cast.team.pk).text("zqone") == "node 1"
    # Other rows with the same names: nothing is compiled.
    assert len(compiled) == 2
    monkeypatch.setattr(known, "MOST_KEPT_SIGNS", 1)
    Hidden(cast.other_team.pk)
    assert [key[0] for key in known._kept] == [cast.other_team.pk]


def test_one_team_reads_names_at_a_time_and_holds_up_no_other(
    public: Campaign, compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known.reading, "_wait_s", 0.05)
    address = f"/c/{public.permanent_id}/"
    with known.reading.turn(Owners(f"names of team {public.team_id}")):
        assert Client().get(address).status_code == 429
    with known.reading.turn(Owners(f"names of team {public.team_id + 1}")):
        assert Client().get(address).status_code == 200
    with known.reading.turn(Owners(f"names of team {public.team_id}")):
        assert Client().get(address).status_code == 200
