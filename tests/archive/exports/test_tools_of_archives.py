"""Tools that come with an archive run nothing until a manager of the team has taken them over."""

import io
import json
from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.archive.campaigns import form
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.writer import archive_of
from apps.archive.incoming.previews import preview_of
from apps.bench.toolkit import ToolFailure
from apps.campaigns import errors
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Trial
from apps.core import messages
from apps.core.errors import ConflictError
from apps.toolbox import queries as toolbox
from apps.toolbox import services as definers
from apps.toolbox.models import MOST_VERSIONS, TeamTool, ToolVersion
from tests import factories, rewriting
from tests.archive.exports.conftest import lines, repacked, unpacked
from tests.archive.exports.test_hostile_archives import summed
from tests.bench.custom import definitions
from tests.campaigns import factories as make
from tests.rotation import part_of
from workers import plans

Changed = Callable[..., dict[str, bytes]]


@pytest.fixture
def ended(cast: SimpleNamespace) -> Campaign:
    """Return an ended campaign, nothing measured, of a tool that the team defined and offers."""
    definers.create_tool(team=cast.team, user=cast.alice, slug="probe", definition=definitions.data("site-digest"))
    (node,) = make.nodes(cast.team, "north")
    draft = make.campaign(cast, name="Digests")
    campaigns.create_experiment(
        campaign=draft, user=cast.oscar, name="x", tool="probe.v1", roles=make.players(node=node), repetitions=1
    )
    campaigns.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    campaigns.cancel_campaign(campaign=Campaign.objects.get(pk=draft.pk), user=cast.oscar, now=make.NOW)
    return Campaign.objects.get(pk=draft.pk)


def archive_with(campaign: Campaign, number: Any = 2, slug: str = "probe") -> Archive:
    """Return an archive of a campaign whose experiment names another version of a tool, with other arguments."""
    files = unpacked(b"".join(archive_of(campaign, now=timezone.now())))
    rewriting.delete(campaign)
    (version,) = json.loads(files[form.TOOLS])
    version["definition"]["name"] = "Not looked at"
    version["definition"]["arguments"] += ["--evil"]
    files[form.TOOLS] = json.dumps([version | {"slug": slug, "number": number}]).encode()
    (row,) = lines(files[form.EXPERIMENTS])
    files[form.EXPERIMENTS] = json.dumps(row | {"tool": f"{slug}.v{number}"}).encode() + b"\n"
    archive = Archive(io.BytesIO(repacked(summed(files).items())), "a.zip")
    archive.verify()
    return archive


def came_in(archive: Archive, cast: SimpleNamespace) -> Campaign:
    return store(archive=archive, team=cast.team, user=cast.oscar, choices=Choices(), now=timezone.now())


def offered(cast: SimpleNamespace) -> set[str]:
    own = toolbox.tools_for(cast.team), toolbox.tools_of(cast.oscar)
    return {tool.slug for tools in own for tool in tools if ".v" in tool.slug}


@pytest.mark.parametrize("slug", ["probe", "probe-two"])
def test_what_an_archive_brings_is_neither_latest_nor_offered_nor_launched(
    client: Client, cast: SimpleNamespace, ended: Campaign, slug: str
) -> None:
    campaign = came_in(archive_with(ended, slug=slug), cast)
    tool = toolbox.team_tools().get(slug=slug)
    assert offered(cast) == {"probe.v1"}
    assert tool.latest == (1 if slug == "probe" else None)
    assert toolbox.latest_version(tool).number == (1 if slug == "probe" else 2)
    client.force_login(cast.alice)
    page = client.get(tool.get_absolute_url())
    assert page.status_code == 200
    waiting = client.get(reverse("toolbox:tool_version", args=[tool.pk, 2])).content.decode()
    assert "came with an archive" in waiting
    assert reverse("toolbox:tool_take_over", args=[tool.pk, 2]) in waiting
    # A clone is a draft, and no draft of it is launched; nor is a new one kept, nor what failed run again.
    copy = campaigns.clone_campaign(campaign=campaign, user=cast.oscar)
    with pytest.raises(errors.Refused) as caught:
        campaigns.launch_campaign(campaign=copy, user=cast.oscar, now=make.NOW)
    assert "takes it over" in str(caught.value.message_dict)
    key = factories.bearer(cast.oscar)
    answer = client.post(f"/api/v1/campaigns/{copy.pk}/launch/", **key)
    assert answer.status_code == 400
    assert "takes it over" in answer.content.decode()
    node = campaign.experiments.get().roles.get().node
    wish = {"campaign": copy.pk, "name": "y", "tool": f"{slug}.v2", "roles": [{"role": "node", "node": node.pk}]}
    answer = client.post("/api/v1/experiments/", wish | {"repetitions": 1}, content_type="application/json", **key)
    assert answer.status_code == 400
    assert "takes it over" in answer.content.decode()
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.FINISHED)
    Trial.objects.filter(campaign=campaign).update(state=Trial.State.FAILED)
    with pytest.raises(errors.WrongState):
        campaigns.rerun_failed(campaign=Campaign.objects.get(pk=campaign.pk), user=cast.oscar)


def test_a_manager_takes_it_over_and_then_it_runs(client: Client, cast: SimpleNamespace, ended: Campaign) -> None:
    campaign = came_in(archive_with(ended, slug="probe-two"), cast)
    tool = TeamTool.objects.get(slug="probe-two")
    with pytest.raises(PermissionDenied):
        definers.take_over(tool=tool, user=cast.oscar, number=2)
    address = f"/api/v1/team-tools/{tool.slug}/versions/2/take-over/"
    shown = client.get("/api/v1/team-tools/probe-two/", **factories.bearer(cast.bob)).json()
    assert (shown["latest"], shown["awaiting"]) == (None, 2)
    client.force_login(cast.bob)
    page = reverse("toolbox:tool_version", args=[tool.pk, 2])
    row = client.get(reverse("toolbox:tool_list")).content.decode().partition("probe-two")[0].rpartition("<tr")[2]
    listed = client.get(reverse("toolbox:tool_list")).content.decode()
    assert page in listed and "version 2 waits for a manager" in listed
    assert "archived</span>" not in row
    assert "Take it over" not in client.get(page).content.decode()
    assert client.post(address, **factories.bearer(cast.charlie)).status_code == 404
    assert client.post(address, **factories.bearer(cast.oscar)).status_code == 403
    assert client.post(address.replace("/2/", "/3/"), **factories.bearer(cast.alice)).status_code == 404
    assert ToolVersion.objects.get(tool=tool).awaits_manager
    client.force_login(cast.alice)
    assert client.post(reverse("toolbox:tool_take_over", args=[tool.pk, 2])).status_code == 302
    assert client.post(address, **factories.bearer(cast.alice)).json()["awaits_manager"] is False
    assert offered(cast) == {"probe.v1", "probe-two.v2"}
    copy = campaigns.clone_campaign(campaign=campaign, user=cast.oscar)
    campaigns.launch_campaign(campaign=copy, user=cast.oscar, now=make.NOW)
    run = make.take()[0]
    assert "--evil" in plans.make_plan(run).stages[0].commands[0].argv
    # Whatever becomes due by another way is asked again as its commands are made.
    ToolVersion.objects.filter(tool=tool).update(awaits_manager=True)
    with pytest.raises(ToolFailure) as caught:
        plans.make_plan(run)
    assert "takes it over" in messages.render(caught.value.message)


def test_a_team_goes_on_with_its_own_versions(cast: SimpleNamespace, ended: Campaign) -> None:
    came_in(archive_with(ended), cast)
    tool = TeamTool.objects.get(slug="probe")
    anew = definitions.data("site-digest") | {"name": "Anew"}
    version = definers.change_tool(tool=tool, user=cast.alice, definition=anew, based_on=1)
    assert version.number == 3
    assert offered(cast) == {"probe.v3"}
    definers.take_over(tool=tool, user=cast.alice, number=2)
    tool.refresh_from_db()
    assert (tool.name, offered(cast)) == ("Anew", {"probe.v3"})


def test_a_version_after_which_few_are_left_is_not_taken_over(
    client: Client, cast: SimpleNamespace, ended: Campaign
) -> None:
    came_in(archive_with(ended), cast)
    tool = TeamTool.objects.get(slug="probe")
    latest = ToolVersion.objects.get(tool=tool, number=2)
    ToolVersion.objects.create(
        tool=tool, number=MOST_VERSIONS, definition=latest.definition | {"name": "Last"}, awaits_manager=True
    )
    address = f"/api/v1/team-tools/{tool.slug}/versions/{MOST_VERSIONS}/take-over/"
    answer = client.post(address, **factories.bearer(cast.alice))
    assert answer.status_code == 409 and "version of your own" in answer.json()["detail"], answer.json()
    client.force_login(cast.alice)
    page = client.post(reverse("toolbox:tool_take_over", args=[tool.pk, MOST_VERSIONS]), follow=True)
    assert page.status_code == 200 and "version of your own" in page.text
    assert ToolVersion.objects.get(tool=tool, number=MOST_VERSIONS).awaits_manager
    anew = definitions.data("site-digest") | {"name": "Anew"}
    assert definers.change_tool(tool=tool, user=cast.alice, definition=anew).number == 3
    # Of one that went so far before, the next would be none that an archive may have.
    ToolVersion.objects.filter(tool=tool).update(awaits_manager=False)
    with pytest.raises(ConflictError, match="as many versions"):
        definers.change_tool(tool=tool, user=cast.alice, definition=anew | {"name": "Beyond"})


@pytest.mark.parametrize("number", [0, -1, MOST_VERSIONS + 1, 2**31 - 1, 2**31, "2", True, None, 1.5])
def test_a_number_that_no_version_has_is_refused(cast: SimpleNamespace, ended: Campaign, number: Any) -> None:
    archive = archive_with(ended, number)
    with pytest.raises(ArchiveError):
        came_in(archive, cast)
    with pytest.raises(ArchiveError):
        preview_of(archive, cast.team)


@pytest.mark.parametrize(
    ("number", "awaits"), part_of(product((0, MOST_VERSIONS, 10**9, 2**31 - 1), (True, False)), parts=3)
)
def test_whatever_number_is_stored_the_tool_has_its_pages(
    client: Client, cast: SimpleNamespace, ended: Campaign, number: int, *, awaits: bool
) -> None:
    tool = TeamTool.objects.get(slug="probe")
    definition = ToolVersion.objects.get(tool=tool).definition
    ToolVersion.objects.create(tool=tool, number=number, definition=definition, awaits_manager=awaits)
    client.force_login(cast.alice)
    pages = [tool.get_absolute_url(), reverse("toolbox:tool_list"), reverse("toolbox:tool_update", args=[tool.pk])]
    pages += [reverse("toolbox:tool_version", args=[tool.pk, value]) for value in (1, number)]
    key = factories.bearer(cast.alice)
    rest = [f"/api/v1/team-tools/probe/{more}" for more in ("", "versions/", "file/", f"file/?version={number}")]
    for address in (*pages, *rest, "/api/v1/tools/"):
        assert client.get(address, **key).status_code == 200, address


def test_the_preview_names_the_tools_that_come_with_it(cast: SimpleNamespace, ended: Campaign) -> None:
    archive = archive_with(ended)
    ((slug, name, command, server),) = preview_of(archive, cast.team)["new_tools"]
    assert (slug, name, server) == ("probe.v2", "Not looked at", "")
    assert command.endswith("--evil")
    tool = TeamTool.objects.get(slug="probe")
    definers.change_tool(tool=tool, user=cast.alice, definition=definitions.data("site-digest") | {"name": "Own"})
    preview = preview_of(archive, cast.team)
    assert preview["new_tools"] == []
    assert preview["differing_tools"][0][:2] == ["probe.v2", "Not looked at"]
    with pytest.raises(ArchiveError, match="tool"):
        came_in(archive, cast)
