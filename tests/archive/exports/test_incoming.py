"""Archives are sent, looked through, decided and stored: on pages, over REST and by commands."""

import io
import os
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.accounts.models import Membership, Role
from apps.archive.incoming import services
from apps.archive.models import IncomingArchive
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Tombstone
from tests import factories, leasing, rewriting
from tests.archive.exports.conftest import repacked, unpacked, whole


@pytest.fixture(autouse=True)
def kept(settings: Any, tmp_path: Path) -> Path:
    """Keep files of the tests by themselves."""
    settings.VAR_DIR = tmp_path
    return tmp_path


GONE = "The file is gone, or no longer whole: send the archive again."


def carry_out() -> None:
    while services.carry_out_next(now=timezone.now()):
        pass


def sent(client: Client, data: bytes, **more: Any) -> IncomingArchive:
    file = SimpleUploadedFile("../../a <b>.zip", data)
    answer = client.post("/exports/archives/", {"archive": file, **more})
    assert answer.status_code == 302, answer.content.decode()
    return IncomingArchive.objects.latest("pk")


def test_pages_take_an_archive_step_by_step(
    client: Client, cast: SimpleNamespace, finished: Campaign, kept: Path, django_assert_max_num_queries: Any
) -> None:
    client.force_login(cast.bob)
    assert "/archive.zip" in client.get(f"/exports/?set=campaign:{finished.pk}").content.decode()
    data = whole(client.get(f"/exports/campaigns/{finished.pk}/archive.zip"))
    client.force_login(cast.charlie)
    assert client.get(f"/exports/campaigns/{finished.pk}/archive.zip").status_code == 404
    # The same campaign is here already, and whoever sees it is told.
    Campaign.objects.filter(pk=finished.pk).update(visibility="public", redacted=False)
    twice = sent(client, data, team=cast.other_team.pk)
    assert "every 2s" in client.get(twice.get_absolute_url()).content.decode()
    carry_out()
    text = client.get(twice.get_absolute_url()).content.decode()
    assert "is here already" in text
    assert "every 2s" not in text
    identity = finished.permanent_id
    rewriting.delete(finished)
    made = sent(client, data, team=cast.other_team.pk)
    carry_out()
    made.refresh_from_db()
    assert (made.state, Campaign.objects.count()) == ("ready", 0)
    page = client.get(made.get_absolute_url())
    text = page.content.decode()
    assert "kisti01, to be described from the archive" in text
    assert "a &lt;b&gt;.zip" in text
    assert made.path.parent == kept / "archives"
    assert client.post(made.get_absolute_url(), {"node-0": "elsewhere"}).status_code == 422
    answer = client.post(made.get_absolute_url(), {"node-0": ""})
    assert answer.status_code == 302, answer.content.decode()
    assert client.post(f"/exports/archives/{made.pk}/give-up/").status_code == 302
    assert not IncomingArchive.objects.filter(pk=made.pk).exists()
    again = sent(client, data, team=cast.other_team.pk)
    carry_out()
    assert "It names:" in client.get(again.get_absolute_url()).content.decode()
    client.post(again.get_absolute_url(), {"node-0": ""})
    carry_out()
    campaign = Campaign.objects.get()
    assert (campaign.team, campaign.created_by) == (cast.other_team, cast.charlie)
    assert campaign.permanent_id != identity == campaign.brought_in["id"]
    again.refresh_from_db()
    assert (again.state, again.campaign, again.path.exists()) == ("done", campaign, False)
    with django_assert_max_num_queries(12):
        assert "imported" in client.get("/exports/archives/").content.decode()
    client.force_login(cast.bob)
    assert client.get(again.get_absolute_url()).status_code == 404
    # A viewer looks on, and decides nothing.
    Membership.objects.create(team=cast.other_team, user=cast.bob, role=Role.VIEWER)
    assert client.get(twice.get_absolute_url()).status_code == 200
    assert client.post(f"/exports/archives/{twice.pk}/give-up/").status_code == 403
    assert client.get("/exports/archives/").status_code == 403


def test_rest_takes_an_archive_step_by_step(client: Client, cast: SimpleNamespace, finished: Campaign) -> None:
    key = factories.bearer(cast.oscar)
    data = whole(client.get(f"/api/v1/campaigns/{finished.pk}/archive/", **key))
    assert (
        client.get(f"/api/v1/campaigns/{finished.pk}/archive/", **factories.bearer(cast.charlie)).status_code == 404
    )
    Campaign.objects.filter(pk=finished.pk).update(state="running")
    assert client.get(f"/api/v1/campaigns/{finished.pk}/archive/", **key).status_code == 409
    rewriting.delete(Campaign.objects.all())
    address = "/api/v1/campaign-archives/"
    body = {"archive": SimpleUploadedFile("a.zip", data), "team": "grid"}
    assert client.post(address, body, **factories.bearer(cast.bob)).status_code == 403
    assert client.post(address, {"archive": SimpleUploadedFile("a.zip", b"text")}, **key).status_code == 400
    answer = client.post(address, {"archive": SimpleUploadedFile("a.zip", data)}, **key)
    assert (answer.status_code, answer.json()["state"]) == (201, "waiting")
    one = f"{address}{answer.json()['id']}/"
    agree = {"data": {"nodes": {}}, "content_type": "application/json"}
    assert client.post(f"{one}agree/", **agree, **key).status_code == 409
    carry_out()
    assert client.get(one, **key).json()["preview"]["counts"]["trials"] == 4
    assert client.get(one, **factories.bearer(cast.charlie)).status_code == 404
    assert client.post(f"{one}agree/", **agree, **factories.bearer(cast.bob)).status_code == 403
    assert client.post(f"{one}agree/", **agree, **key).status_code == 202
    carry_out()
    told = client.get(one, **key).json()
    assert (told["state"], told["campaign"]) == ("done", Campaign.objects.get().pk)
    assert Campaign.objects.get().created_by == cast.oscar
    assert client.delete(one, **key).status_code == 204


def test_an_archive_that_is_refused_says_why_and_can_be_decided_otherwise(
    client: Client, cast: SimpleNamespace, finished: Campaign
) -> None:
    client.force_login(cast.oscar)
    data = whole(client.get(f"/exports/campaigns/{finished.pk}/archive.zip"))
    rewriting.delete(finished)
    broken = sent(client, repacked({**unpacked(data), "tools.json": b"[1]"}.items()), team=cast.team.pk)
    carry_out()
    text = client.get(broken.get_absolute_url()).content.decode()
    assert "tools.json is not as it was when the archive was made" in text
    assert "Nothing was stored." in text
    made = sent(client, data, team=cast.team.pk)
    carry_out()
    services.agree(incoming=made, user=cast.oscar, nodes={"kisti01": "pnu01"})
    carry_out()
    page = client.get(made.get_absolute_url()).content.decode()
    assert "cannot both be" in page and "Choose otherwise below" in page
    # What was chosen is still chosen.
    assert '<option value="pnu01" selected>' in page
    services.agree(incoming=made, user=cast.oscar)
    carry_out()
    assert Campaign.objects.get().created_by == cast.oscar


def test_a_worker_that_was_killed_is_made_good_and_not_for_ever(cast: SimpleNamespace, kept: Path) -> None:
    made = IncomingArchive.objects.create(
        team=cast.team, created_by=cast.oscar, name="a", size=1, state="checking", attempts=1, alive_at=timezone.now()
    )
    # However long it takes: it lives.
    with leasing.elsewhere(services.TAKE_ARCHIVES, made.pk):
        services.resume(now=timezone.now() + timedelta(hours=5))
        made.refresh_from_db()
        assert made.state == "checking"
        IncomingArchive.objects.filter(pk=made.pk).update(state="waiting")
        carry_out()
        IncomingArchive.objects.filter(pk=made.pk).update(state="checking")
    services.resume(now=timezone.now())
    made.refresh_from_db()
    assert made.state == "waiting"
    carry_out()
    made.refresh_from_db()
    assert (made.state, made.reason["msgid"]) == ("refused", GONE)
    IncomingArchive.objects.filter(pk=made.pk).update(state="storing", attempts=services.MOST_ATTEMPTS)
    services.resume(now=timezone.now())
    made.refresh_from_db()
    assert made.state == "refused"


def test_an_id_that_was_another_teams_stays_theirs(
    client: Client, cast: SimpleNamespace, finished: Campaign, kept: Path
) -> None:
    identity = finished.permanent_id
    client.force_login(cast.alice)
    data = whole(client.get(f"/exports/campaigns/{finished.pk}/archive.zip"))
    campaigns.delete_campaign(campaign=finished, user=cast.alice, now=timezone.now(), reason="Wrong cable")
    client.force_login(cast.charlie)
    foreign = sent(client, data, team=cast.other_team.pk)
    carry_out()
    foreign.refresh_from_db()
    # It is as any that was never here, and as such it gets no other's id.
    assert foreign.state == "ready"
    services.agree(incoming=foreign, user=cast.charlie)
    carry_out()
    assert Campaign.objects.get().permanent_id != identity
    assert Tombstone.objects.get(permanent_id=identity).reason == "Wrong cable"
    # Nor does an administrator give it that.
    cast.charlie.is_superuser = True
    cast.charlie.save()
    rewriting.delete(Campaign.objects.all())
    wanted = sent(client, data, team=cast.other_team.pk)
    carry_out()
    services.agree(incoming=wanted, user=cast.charlie, keep_ids=True)
    carry_out()
    wanted.refresh_from_db()
    assert wanted.state == "refused"
    assert "another team&#x27;s" in client.get(wanted.get_absolute_url()).content.decode()
    client.force_login(cast.alice)
    own = sent(client, data, team=cast.team.pk)
    carry_out()
    own.refresh_from_db()
    assert own.state == "ready"


def test_commands_write_and_read_archives(cast: SimpleNamespace, finished: Campaign, tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        out = io.StringIO()
        call_command(*arguments, stdout=out)
        return out.getvalue()

    path = str(tmp_path / "a.zip")
    assert "Window sweep" in run("export_campaign", finished.permanent_id.upper(), path)
    assert not Path(f"{path}.part").exists()
    into = ("import_campaign", path, "--team", "grid", "--user")
    with pytest.raises(CommandError, match="is here already"):
        run(*into, "oscar")
    identity = finished.permanent_id
    rewriting.delete(finished)
    assert "would come in" in run(*into, "oscar", "--dry-run")
    assert not Campaign.objects.exists()
    assert "came in" in run(*into, "oscar", "--keep-ids")
    assert (Campaign.objects.get().created_by, Campaign.objects.get().permanent_id) == (cast.oscar, identity)
    for arguments, problem in (
        (("export_campaign", "nothing", path), "no campaign"),
        (("export_campaign", str(Campaign.objects.get().pk), str(tmp_path / "no" / "a.zip")), "No such file"),
        ((*into, "bob"), "no operator"),
        ((*into, "nobody"), "no user"),
        ((*into, "oscar", "--node", "x"), "NAME=OTHER"),
        (("import_campaign", str(tmp_path / "none"), "--team", "grid", "--user", "oscar"), "No such file"),
    ):
        with pytest.raises(CommandError, match=problem):
            run(*arguments)


def test_a_worker_that_is_killed_as_it_ends_leaves_no_half(
    client: Client, cast: SimpleNamespace, finished: Campaign, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(cast.bob)
    data = whole(client.get(f"/exports/campaigns/{finished.pk}/archive.zip"))
    rewriting.delete(finished)
    client.force_login(cast.charlie)
    made = sent(client, data, team=cast.other_team.pk)
    carry_out()
    made.refresh_from_db()
    assert client.post(made.get_absolute_url(), {"node-0": ""}).status_code == 302

    class Killed(BaseException):
        """What nothing catches, and nothing is written after."""

    def die(*_values: Any, **_more: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(services, "_end", die)
        with pytest.raises(Killed):
            carry_out()
    assert not Campaign.objects.exists()
    services.resume(now=timezone.now())
    carry_out()
    made.refresh_from_db()
    assert (made.state, made.campaign, made.path.exists()) == ("done", Campaign.objects.get(), False)
    # One killed before it removed the file leaves it to whoever sweeps.
    made.path.write_bytes(data)
    os.utime(made.path, (0, 0))
    services.sweep(now=timezone.now())
    assert not made.path.exists()
