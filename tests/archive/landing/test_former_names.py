"""A name that is gone stands in texts still, and strangers do not read it either."""

import ipaddress
from collections.abc import Iterator
from itertools import count, product
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import Membership, User
from apps.agents.models import AgentInstance, FactSnapshot
from apps.archive.campaigns.writer import archive_of
from apps.archive.landing.redaction import Hidden
from apps.archive.landing.redaction.named import NAMED
from apps.archive.models import FormerName
from apps.campaigns.models import Campaign, Experiment, Tombstone
from apps.campaigns.runnable.shape import LONGEST_TEXT
from apps.testbeds.models import Node, Site
from tests import factories as people
from tests.archive.exports.conftest import unpacked
from tests.archive.landing.answers import public_answers
from tests.archive.landing.goings import MAKERS, goings
from tests.campaigns import factories as make
from tests.testbeds import factories

pytestmark = pytest.mark.django_db
# Texts of the inventory, of people and of agents that name nothing: settings, keys, sizes, what paths and cards are.
NAMELESS = {
    # A team is cited by its name.
    "accounts.Team.name", "accounts.Team.slug", "accounts.Team.skeleton",
    # The name again, and that of who never was of the team; no text holds either.
    "accounts.User.skeleton", "accounts.Invitation.username",
    "accounts.ApiToken.name", "accounts.ApiToken.prefix", "accounts.ApiToken.digest",
    # Everything with an @ is hidden.
    "accounts.User.email", "accounts.User.claimed_email", "accounts.MailAddress.address",
    "accounts.MailUsage.account",
    "accounts.User.password", "accounts.User.timezone", "accounts.User.language",
    "testbeds.Testbed.cpu", "testbeds.Testbed.os", "testbeds.Testbed.nic", "testbeds.Testbed.bonding",
    "testbeds.Testbed.interconnect", "testbeds.NodeAddress.interface", "testbeds.SettingGrant.pattern",
    "testbeds.SettingGrant.values", "testbeds.FileSystem.mount_path", "testbeds.FileSystem.disks",
    "testbeds.Mount.path",
    "agents.Agent.prefix", "agents.Agent.digest", "agents.Agent.version", "agents.Agent.troubles",
    "agents.EnrolmentToken.prefix", "agents.EnrolmentToken.digest", "agents.FactSnapshot.digest",
    "agents.FactSnapshot.archive_ref",
    "agents.AgentInstance.machine", "agents.AgentInstance.boot", "agents.AgentInstance.folder",
    "agents.AgentInstance.version",
    # Nobody shows them outside, but for their texts.
    "agents.Job.role", "agents.Job.ready_pattern", "agents.Job.files", "agents.Job.environment", "agents.Job.fault",
    "agents.Job.fault_detail", "agents.JobFile.name",
    "agents.OwedRemoval.detail", "agents.OwedRemoval.commands", "agents.OwedRemoval.resources",
}  # fmt: skip
TEXTS = (models.CharField, models.TextField, models.JSONField, models.GenericIPAddressField)
STONE = "aaaa-bbbb-cccc"


@pytest.fixture
def secret(measured: Campaign) -> Campaign:
    """Return a measured campaign, public without names."""
    measured.visibility, measured.licence = Campaign.Visibility.PUBLIC, "CC-BY-4.0"
    measured.save()
    return measured


def words() -> Iterator[str]:
    """Yield names that stand in no page by themselves."""
    for signs in product("bcdfghjklm", repeat=3):
        yield f"zq{''.join(signs)}ul"


def test_every_field_that_names_something_is_in_the_one_list() -> None:
    fields = {
        f"{model._meta.label}.{field.name}"
        for app in ("accounts", "testbeds", "agents")
        for model in apps.get_app_config(app).get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, TEXTS) and not field.choices and field.name != "notes"
    }
    listed = {f"{named.model._meta.label}.{named.field}" for named in NAMED}
    assert listed.isdisjoint(NAMELESS)
    assert listed | NAMELESS == fields, "name it in NAMED, with a trigger, or say here that it names nothing"


def test_every_field_of_the_list_is_let_go_by_every_door() -> None:
    assert set(MAKERS) == {(named.model, named.field) for named in NAMED}
    # Teams are cited by their own names.
    assert set(FormerName.Kind) - {FormerName.Kind.MACHINE, FormerName.Kind.TEAM} == {named.kind for named in NAMED}


def let_all_go(client: Client, cast: SimpleNamespace) -> dict[str, str]:
    """Have a name of each kind go by each door; return where each went, by how it stands in texts."""
    names, numbers = words(), count(1)
    gone = {}
    for model, field, door in goings():
        written = name = next(names)
        other: Any = f"later{next(numbers)}"
        if model is FactSnapshot:
            kept, other = {"hostname": name}, {"hostname": other}
        elif (model, field) == (AgentInstance, "address"):
            kept, other = f"10.77.3.{next(numbers)}", "10.9.9.9"
            written = f"{int(ipaddress.ip_address(kept)):08x}"
        else:
            kept = name
        row = MAKERS[model, field](cast.team, kept)
        door(client, cast, row, field, other)
        gone[written] = f"{model.__name__}.{field}: {door.__name__}"
    client.logout()
    return gone


def test_no_public_page_or_file_holds_a_name_that_is_gone(
    client: Client, secret: Campaign, cast: SimpleNamespace
) -> None:
    gone = let_all_go(client, cast)
    text = " · ".join(gone)
    assert len(gone) > 90 and len(text) < LONGEST_TEXT / 2
    Campaign.objects.filter(pk=secret.pk).update(name=text[:200].rpartition(" ")[0], goal=text)
    Experiment.objects.filter(campaign=secret).update(
        name=text[-180:].partition(" ")[2], exclusions=[text[:1900], text[-1900:]]
    )
    halves = list(gone)
    for place, some in enumerate((halves[::2], halves[1::2])):
        Tombstone.objects.create(
            team=cast.team, permanent_id=f"{STONE[:-1]}{place}", visibility=Campaign.Visibility.PUBLIC, redacted=True,
            name=" ".join(some)[:199], reason=" ".join(some), trials=1, campaign_created_at=secret.created_at,
            deleted_at=secret.created_at,
        )  # fmt: skip
    answers = public_answers(client, secret)
    for address in ("/c/{}/", "/api/v1/permanent-ids/{}/"):
        for place in range(2):
            answer = client.get(address.format(f"{STONE[:-1]}{place}"))
            assert answer.status_code == 410
            answers[f"{address}{place}"] = answer.content.decode()
    read = {
        (address, gone[name]) for address, answer in answers.items() for name in gone if name in answer.casefold()
    }
    assert not read
    # They are there to be read, and only by this they are not.
    client.force_login(cast.bob)
    page = client.get(f"/c/{secret.permanent_id}/").content.decode()
    assert all(name in page for name in gone)


def test_what_programs_said_of_interfaces_is_hidden_as_figures_for_ever(cast: SimpleNamespace) -> None:
    node = factories.node(cast.team)
    interface = {"mac": "0c:c4:7a:01:02:03", "addresses": ["172.31.9.8/24", "fd00:5::7/64"]}
    FactSnapshot.objects.create(node=node, digest="1", facts={"hostname": "zqhost", "interfaces": [interface, {}]})
    FactSnapshot.objects.create(node=node, digest="2", facts={"interfaces": None})
    FactSnapshot.objects.create(node=node, digest="3", facts={})
    text = "0cc47a010203 ac1f0908 fd000005000000000000000000000007"
    assert Hidden(cast.team.pk).text(text) == "address of node 1 address of node 1 address of node 1"
    node.delete()
    names = Hidden(cast.team.pk)
    assert names.text(text) == "address of node 1 address of node 1 address of node 1"
    assert names.text("zqhost.other.kr") == "node 1"


def test_a_thing_has_one_number_under_all_its_names_and_nobody_elses(cast: SimpleNamespace) -> None:
    first, second, third = make.nodes(cast.team, "zqone", "zqtwo", "zqthree")
    first_site, _second, third_site = (factories.site(cast.team, f"zqsite{place}") for place in "abc")
    written = "zqone zqtwo zqthree zqsitea zqsiteb zqsitec alice oscar bob"
    before = Hidden(cast.team.pk).text(written)
    assert before == "node 1 node 2 node 3 site 2 site 3 site 4 user 1 user 2 user 3"
    Node.objects.filter(pk=first.pk).update(name="zqnew")
    second.delete()
    Site.objects.filter(name="zqsiteb").delete()
    Membership.objects.get(user=cast.oscar).delete()
    User.objects.filter(pk=cast.bob.pk).update(username="robert")
    names = Hidden(cast.team.pk)
    assert names.text(written) == before
    assert names.text("zqnew robert") == "node 1 user 3"
    make.nodes(cast.team, "zqfour")
    factories.site(cast.team, "zqsited")
    people.user("zqdana")
    Membership.objects.create(team=cast.team, user=User.objects.get(username="zqdana"))
    names = Hidden(cast.team.pk)
    assert names.text(written) == before
    assert names.text("zqfour zqsited zqdana") == "node 4 site 5 user 4"
    # A name that is given again is that of who has it now.
    Node.objects.filter(pk=third.pk).update(name="zqone")
    Site.objects.filter(pk=third_site.pk).update(name="gone")
    Site.objects.filter(pk=first_site.pk).update(name="zqsitec")
    assert Hidden(cast.team.pk).text("zqone zqthree zqsitea zqsitec") == "node 3 node 3 site 2 site 2"


def test_many_former_names_take_no_more_questions(
    cast: SimpleNamespace, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make.nodes(cast.team, "zqone")
    place = factories.site(cast.team)
    for model, field, kind in NAMED:
        FormerName.objects.bulk_create(
            FormerName(team=cast.team, kind=kind, owner=place.pk + number, name=f"zq{kind}{field}{number}")
            for number in range(300)
        )
        assert model
    with django_assert_max_num_queries(14):
        names = Hidden(cast.team.pk, Node.objects.filter(team=cast.team))
    assert names.text("zqnodename299 zqsitename7") == names.text("ZQNODENAME299 ZQSITENAME7") != "zqnodename299"


def test_a_node_of_another_team_is_known_under_its_former_names(cast: SimpleNamespace) -> None:
    (lent,) = make.nodes(cast.other_team, "zqlent")
    (kept,) = make.nodes(cast.other_team, "zqkept")
    Node.objects.update(name=models.functions.Concat(models.Value("new"), "name"))
    names = Hidden(cast.team.pk, [Node.objects.get(pk=lent.pk)])
    assert names.text("zqlent newzqlent") == "node 1 node 1"
    # Names of another team's other things are none of this team's.
    assert names.text("zqkept") == "zqkept" and kept


def test_each_name_is_kept_once_and_goes_with_its_team(cast: SimpleNamespace) -> None:
    team = people.team("zqteam", manager=cast.charlie)
    member = Membership.objects.create(team=team, user=cast.bob)
    for name in ("zqa", "zqb", "zqa", "zqb"):
        User.objects.filter(pk=cast.bob.pk).update(username=name)
    User.objects.filter(pk=cast.bob.pk).update(last_login=timezone.now(), username="zqb")
    rows = FormerName.objects.filter(team=team)
    assert sorted(rows.values_list("owner", "name")) == [(member.pk, name) for name in ("bob", "zqa", "zqb")]
    Membership.objects.filter(pk=member.pk).update(role="operator")
    assert rows.count() == 3
    team.delete()
    assert not rows.exists()
    connection.check_constraints()


def test_a_tombstone_names_nobody_who_deleted_it(client: Client, secret: Campaign, cast: SimpleNamespace) -> None:
    for number, name in enumerate(("root", "oscar", "")):
        Tombstone.objects.create(
            team=cast.team, permanent_id=f"{STONE[:-1]}{number}", visibility=Campaign.Visibility.PUBLIC,
            redacted=True, deleted_by_name=name, name="One", trials=1, campaign_created_at=secret.created_at,
            deleted_at=secret.created_at,
        )  # fmt: skip
    read = [client.get(f"/api/v1/permanent-ids/{STONE[:-1]}{number}/").json()["deleted_by"] for number in range(3)]
    assert read == ["somebody", "user 2", ""]
    assert "root" not in client.get(f"/c/{STONE[:-1]}0/").content.decode()


def test_no_archive_page_or_administrator_shows_the_names_that_are_kept(
    client: Client, secret: Campaign, cast: SimpleNamespace
) -> None:
    factories.node(cast.team, "zqgone").delete()
    assert FormerName.objects.filter(name="zqgone").exists()
    files = unpacked(b"".join(archive_of(secret, now=timezone.now())))
    assert files
    assert not [name for name, data in files.items() if b"zqgone" in data or "former" in name]
    client.force_login(User.objects.create_superuser("root", password="secret"))
    assert "formername" not in client.get("/admin/").content.decode().casefold()
    assert client.get("/admin/results/formername/").status_code == 404
