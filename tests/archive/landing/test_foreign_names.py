"""Names of another team, which came with its archive, recipe or campaign: strangers read none of them."""

import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from apps.accounts.models import Membership, User
from apps.agents.models import AgentInstance, FactSnapshot, Job
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.names import keep_names
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.writer import archive_of
from apps.archive.incoming import services as incoming
from apps.archive.landing.redaction import Hidden, foreign
from apps.archive.landing.redaction.named import NAMED
from apps.archive.models import FormerName
from apps.campaigns import runnable, services
from apps.campaigns.models import Campaign, Experiment, ForeignNames, Lane, Tombstone
from apps.campaigns.models.foreign_names import ForeignName, NameKind
from apps.campaigns.services import copies, foreign_names
from apps.testbeds.models import Node, Site
from tests import factories as people
from tests import rewriting
from tests.archive.landing.answers import public_answers
from tests.archive.landing.goings import MAKERS
from tests.campaigns import factories as make
from tests.testbeds import factories

pytestmark = pytest.mark.django_db
V = Campaign.Visibility
# By model and field: how it stands in texts. What has figures for an address is hidden whoever's it is otherwise.
NAMES = {(model, field): f"zq{model.__name__}{field.replace('_', '')}".casefold() for model, field in MAKERS}
ADDRESS, FIGURES = "10.77.3.5", "0a4d0305"
NAMES[AgentInstance, "address"] = FIGURES
# An archive tells of nodes what its facts say; the definition of a campaign may say the rest.
OF_ARCHIVES = {key: name for key, name in NAMES.items() if key != (AgentInstance, "host")}


@pytest.fixture
def theirs(measured: Campaign, cast: SimpleNamespace) -> Campaign:
    """Return the campaign of one team, of which whatever it touches has a name of its own."""
    client = Node.objects.get(name="kisti01")
    switch = factories.switch(cast.team, site=client.testbed.site)
    link = factories.link(client, switch)
    cluster = factories.cluster(cast.team, "", client)
    system = factories.file_system(cast.team, server_cluster=cluster)
    facts = {"hostname": NAMES[FactSnapshot, "facts"], "interfaces": [{"name": "e", "addresses": [f"{ADDRESS}/24"]}]}
    snapshot = FactSnapshot.objects.create(node=client, digest="zq", facts=facts)
    rewriting.update(Job.objects.filter(node=client), facts=snapshot)
    rewriting.update(Experiment.objects.all(), file_system=system)
    lane = Lane.objects.get(experiment__campaign=measured)
    rewriting.update(Lane.objects.all(), resources=[*lane.resources, f"link:{link.pk}"])
    rows = (client, client.testbed, client.testbed.site, switch, link, cluster, system, measured.created_by)
    for row in (*rows, client.addresses.get()):
        named = {field: name for (model, field), name in NAMES.items() if model is type(row)}
        type(row).objects.filter(pk=row.pk).update(**named)
    measured.refresh_from_db()
    return measured


def archive(campaign: Campaign, reader: User) -> bytes:
    Campaign.objects.filter(pk=campaign.pk).update(state="finished")
    return b"".join(archive_of(Campaign.objects.get(pk=campaign.pk), now=timezone.now(), reader=reader))


def stored(data: bytes, team: Any, user: User) -> Campaign:
    """Return the campaign of an archive, whose nodes are a team's own."""
    read = Archive(io.BytesIO(data), "a.zip")
    read.verify()
    there = [entry["name"] for entry in read.json("inventory.json")["nodes"]]
    nodes = {name: f"own{number}" for number, name in enumerate(there)}
    missing = set(nodes.values()) - set(Node.objects.filter(team=team).values_list("name", flat=True))
    make.nodes(team, *sorted(missing), site="Own")
    came = store(archive=read, team=team, user=user, choices=Choices(nodes), now=timezone.now())
    # What was measured writes to none, but for this test.
    Experiment.objects.filter(campaign=came).update(file_system=None)
    return came


def again(campaign: Campaign, team: Any, user: User, original: Campaign | None) -> Campaign:
    recipe = runnable.read_recipe(runnable.as_yaml(runnable.recipe_of(campaign)))
    needed = runnable.names_in(recipe)
    nodes = [node.name for node in make.nodes(team, "mine0", "mine1", site="Mine")]
    stand_ins = services.NodeStandIns(nodes=dict(zip(needed["nodes"], nodes, strict=True)))
    return services.run_again(
        recipe=recipe, team=team, user=user, now=timezone.now(), stand_ins=stand_ins, original=original, launch=False
    )


def _clone(came: Campaign, cast: SimpleNamespace) -> Campaign:
    return services.clone_campaign(campaign=came, user=cast.charlie)


def _date(came: Campaign, cast: SimpleNamespace) -> Campaign:
    return copies.copy_campaign(campaign=came, name="Date", created_by=cast.charlie, series=came)


def _rerun(came: Campaign, cast: SimpleNamespace) -> Campaign:
    return again(came, cast.other_team, cast.charlie, came)


def _verification(came: Campaign, cast: SimpleNamespace) -> Campaign:
    return make.campaign(cast, team=cast.other_team, user=cast.charlie, made_from=came)


def _rerun_elsewhere(came: Campaign, cast: SimpleNamespace) -> Campaign:
    # What another team takes is the definition, and it is told no names but those in it.
    words = " · ".join(OF_ARCHIVES.values())
    Campaign.objects.filter(pk=came.pk).update(goal=words)
    copy = again(Campaign.objects.get(pk=came.pk), cast.third, cast.dana, Campaign.objects.get(pk=came.pk))
    assert copy.foreign_names is not None
    assert {name.name for name in copy.foreign_names.all if name.name not in words} <= {"own0", "own1", "WAN"}
    return copy


def _import_elsewhere(came: Campaign, cast: SimpleNamespace) -> Campaign:
    return stored(archive(came, cast.charlie), cast.third, cast.dana)


def _brought_back(came: Campaign, cast: SimpleNamespace) -> Campaign:
    data = archive(came, cast.charlie)
    services.delete_campaign(campaign=came, user=cast.charlie, now=timezone.now())
    return stored(data, cast.other_team, cast.charlie)


WAYS: tuple[Callable[[Campaign, SimpleNamespace], Campaign], ...] = (
    lambda came, _cast: came, _clone, _date, _rerun, _verification, _rerun_elsewhere, _import_elsewhere,
    _brought_back, lambda came, cast: _rerun(_clone(came, cast), cast),
    lambda came, cast: _import_elsewhere(_clone(came, cast), cast),
)  # fmt: skip


def forget(team: Any) -> None:
    """Have the team's own inventory and the names that it had remember nothing of what came in."""
    for number, named in enumerate(NAMED):
        if named.model not in (FactSnapshot, User, AgentInstance):
            owner = "node__team" if named.model.__name__ == "NodeAddress" else "team"
            for row in named.model._default_manager.filter(**{owner: team}):
                named.model._default_manager.filter(pk=row.pk).update(**{named.field: f"own{number}x{row.pk}"})
    FormerName.objects.all().delete()


def publish(campaign: Campaign, text: str) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(goal=text, visibility=V.PUBLIC, redacted=True)
    Experiment.objects.filter(campaign=campaign).update(exclusions=[text])


def strangers_read(campaign: Campaign, names: Any) -> set[str]:
    """Return which names a stranger reads, of the campaign and of what is left once it is deleted."""
    publish(campaign, " · ".join(names))
    forget(campaign.team)
    answers = "\n".join(public_answers(Client(), campaign).values())
    manager = campaign.team.members.first()
    Campaign.objects.filter(pk=campaign.pk).update(state="draft")
    services.delete_campaign(campaign=campaign, user=manager, now=timezone.now(), reason=" · ".join(names))
    stone = Client().get(f"/c/{campaign.permanent_id}/")
    assert stone.status_code == 410 and "elsewhere" in stone.text
    return {name for name in names if name in (answers + stone.text).casefold()}


@pytest.fixture
def cast_of_three(cast: SimpleNamespace) -> SimpleNamespace:
    dana = people.user("dana")
    third = people.team("third", manager=dana)
    return SimpleNamespace(**vars(cast), dana=dana, third=third)


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_no_name_of_an_archive_is_read_in_what_is_made_of_it(
    cast_of_three: SimpleNamespace, theirs: Campaign, way: int
) -> None:
    came = stored(archive(theirs, cast_of_three.oscar), cast_of_three.other_team, cast_of_three.charlie)
    copy = WAYS[way](came, cast_of_three)
    assert not strangers_read(Campaign.objects.get(pk=copy.pk), OF_ARCHIVES.values())


def test_no_name_that_a_definition_says_is_read_where_another_team_takes_it(
    cast_of_three: SimpleNamespace, measured: Campaign
) -> None:
    cast = cast_of_three
    for (model, field), name in NAMES.items():
        value: Any = {"hostname": name} if model is FactSnapshot else ADDRESS if name == FIGURES else name
        MAKERS[model, field](cast.team, value)
    Campaign.objects.filter(pk=measured.pk).update(goal=" · ".join(NAMES.values()), name="Of zqnodename")
    Node.objects.filter(name=NAMES[Node, "name"]).delete()
    measured.refresh_from_db()
    for copy in (
        again(measured, cast.other_team, cast.charlie, measured),
        stored(archive(measured, cast.oscar), cast.third, cast.dana),
    ):
        assert not strangers_read(copy, NAMES.values()), copy.team


def test_a_recipe_alone_tells_which_names_others_took_the_place_of(
    client: Client, measured: Campaign, cast: SimpleNamespace
) -> None:
    make.nodes(cast.other_team, "left", "right", site="Elsewhere")
    Campaign.objects.filter(pk=measured.pk).update(goal="From kisti01 to pnu01")
    recipe = client.get(f"/api/v1/campaigns/{measured.pk}/recipe/", **people.bearer(cast.oscar)).json()["recipe"]
    wish = {"recipe": recipe, "nodes": {"kisti01": "left", "pnu01": "right"}, "launch": False}
    key = people.bearer(cast.charlie) | {"content_type": "application/json"}
    answer = client.post("/api/v1/campaigns/run/", wish, **key)
    copy = Campaign.objects.get(pk=answer.json()["id"])
    assert answer.status_code == 201 and copy.cloned_from is None
    sharing = {"visibility": "public", "redacted": True, "licence": "CC-BY-4.0"}
    assert client.put(f"/api/v1/campaigns/{copy.pk}/sharing/", sharing, **key).status_code == 200
    read = "\n".join(public_answers(client, copy).values())
    assert "elsewhere to node" in read
    assert not {name for name in ("kisti01", "pnu01", "left", "right") if name in read}


def test_teams_read_no_name_that_came_and_learn_of_none_that_they_do_not_see(
    client: Client, cast_of_three: SimpleNamespace, theirs: Campaign
) -> None:
    cast, key = cast_of_three, people.bearer(cast_of_three.charlie)
    file = SimpleUploadedFile("a.zip", archive(theirs, cast.oscar))
    make.nodes(cast.other_team, "own0", "own1", site="Own")
    sent = client.post("/api/v1/campaign-archives/", {"archive": file, "team": cast.other_team.slug}, **key).json()
    while incoming.carry_out_next(now=timezone.now()):
        pass
    one = f"/api/v1/campaign-archives/{sent['id']}/"
    there = client.get(one, **key).json()["preview"]["nodes"]
    chosen = {"nodes": {name: f"own{number}" for number, name in enumerate(there)}}
    assert client.post(f"{one}agree/", chosen, content_type="application/json", **key).status_code == 202
    while incoming.carry_out_next(now=timezone.now()):
        pass
    came = Campaign.objects.get(pk=client.get(one, **key).json()["campaign"])
    assert came.foreign_names is not None
    addresses = [came.get_absolute_url(), f"/c/{came.permanent_id}/", f"/api/v1/campaigns/{came.pk}/"]
    client.force_login(cast.charlie)
    read = "".join(client.get(address).text for address in addresses)
    assert not {
        model for model in (Node, FactSnapshot) for name in read.split() if f"zq{model.__name__}".casefold() in name
    }
    assert "foreign" not in read
    # A name that nobody wrote anywhere is told to no other team.
    assert NAMES[Site, "place"] not in {name.name for name in foreign.names_said(theirs)}


def test_names_are_kept_once_bounded_and_ask_the_others_for_nothing(
    cast: SimpleNamespace,
    measured: Campaign,
    django_assert_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [ForeignName(kind.value, f"zq{kind}", "zqfamily") for kind in NameKind]
    rows = {foreign_names.keep(cast.team, some) for some in (names, names[::-1], [*names, names[0]])}
    assert len(rows) == 1 and foreign_names.keep(cast.team, [ForeignName("node", " ")]) is None
    (row,) = rows
    assert row is not None
    hidden = Hidden(cast.team.pk, (), row.pk)
    # What is said of an interface is an address, or nothing.
    words = [name.name for name in names if name.kind not in (NameKind.INTERFACE, NameKind.MACHINE, NameKind.PERSON)]
    assert not {name for name in words if name in hidden.name(name)}
    assert Hidden(cast.team.pk).name("zqnode") == "zqnode"
    with django_assert_num_queries(1):
        Hidden(cast.team.pk, (), row.pk)
    with django_assert_num_queries(1):
        Hidden(cast.team.pk)
    many = {"people": [], "names": [["node", f"n{number}" * 20, ""] for number in range(80_000)]}
    data = Archive(io.BytesIO(archive(measured, cast.oscar)), "a.zip")
    data.verify()
    with pytest.raises(ArchiveError, match="20000 at most"):
        keep_names(data, many, measured, None)
    monkeypatch.setattr(foreign_names, "MOST_OF_TEAM", len(names) + 2)
    assert foreign_names.keep(cast.team, names) == row
    more = [ForeignName("node", f"zz{number}") for number in range(3)]
    Campaign.objects.filter(pk=measured.pk).update(foreign_names=row)
    with pytest.raises(ValidationError, match="at most can be hidden"):
        foreign_names.keep(cast.team, more)
    assert ForeignNames.objects.count() == 1 and not Tombstone.objects.exists()
    Campaign.objects.filter(pk=measured.pk).update(foreign_names=None)
    assert foreign_names.keep(cast.team, more) == ForeignNames.objects.get()


@pytest.mark.parametrize("names", ["x", [1], [["node"]], [["node", 1, ""]], {"a": 1}, [["node", "x" * 301, ""]]])
def test_names_of_an_archive_that_are_in_no_form_are_refused(
    cast: SimpleNamespace, measured: Campaign, names: Any
) -> None:
    data = Archive(io.BytesIO(archive(measured, cast.oscar)), "a.zip")
    data.verify()
    with pytest.raises(ArchiveError):
        keep_names(data, {"people": [], "names": names}, measured, None)


def test_who_is_a_member_keeps_the_number_of_a_member(cast: SimpleNamespace) -> None:
    row = foreign_names.keep(cast.team, [ForeignName("user", "oscar"), ForeignName("node", "zqa")])
    assert row is not None and Membership.objects.filter(user=cast.oscar).exists()
    assert Hidden(cast.team.pk, (), row.pk).text("oscar on zqa") == "user 2 on node 1 elsewhere"
