"""A deleted campaign that comes back is shown to those who saw it, and its file to nobody else meanwhile."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from apps.archive.campaigns.writer import archive_of
from apps.archive.incoming import services
from apps.archive.models import IncomingArchive
from apps.campaigns import queries
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign
from apps.campaigns.services.notes import add_note
from apps.core import messages
from apps.results.validity import mark_invalid
from tests.archive.exports.conftest import lines, repacked, unpacked
from tests.campaigns import factories as make
from tests.factories import signed_in

V = Campaign.Visibility
TEAM = {"alice", "oscar", "bob"}


def carry_out() -> None:
    while services.carry_out_next(now=timezone.now()):
        pass


def readers_of(cast: SimpleNamespace, incoming: IncomingArchive) -> set[str]:
    """Return to whom the list of archives names a file."""
    people = (cast.alice, cast.oscar, cast.bob, cast.charlie)
    pages = {user.username: signed_in(user).get("/api/v1/campaign-archives/") for user in people}
    return {name for name, page in pages.items() if incoming.name in page.content.decode()}


@pytest.mark.parametrize(
    ("visibility", "redacted", "seen"),
    [
        (V.PRIVATE, True, {"oscar"}),
        (V.TEAM, True, TEAM),
        (V.SHARED, True, {*TEAM, "charlie"}),
        (V.PUBLIC, False, {*TEAM, "charlie"}),
    ],
)
def test_what_comes_back_is_shown_as_it_was(
    cast: SimpleNamespace,
    finished: Campaign,
    settings: Any,
    tmp_path: Path,
    visibility: str,
    redacted: bool,
    seen: set[str],
) -> None:
    settings.VAR_DIR = tmp_path
    if visibility == V.SHARED:
        make.share(finished, cast.other_team)
    Campaign.objects.filter(pk=finished.pk).update(visibility=visibility, redacted=redacted)
    finished.refresh_from_db()
    data = b"".join(archive_of(finished, now=timezone.now()))
    campaigns.delete_campaign(campaign=finished, user=cast.oscar, now=timezone.now())
    sent = services.take(team=cast.team, user=cast.oscar, file=SimpleUploadedFile("zqsecret.zip", data))
    # Nobody has looked yet whose it is.
    assert readers_of(cast, sent) == {"oscar"}
    carry_out()
    assert readers_of(cast, sent) == seen & TEAM
    services.agree(incoming=sent, user=cast.oscar)
    carry_out()
    back = Campaign.objects.get()
    assert (back.visibility, back.redacted) == (visibility, redacted)
    everybody = (cast.alice, cast.oscar, cast.bob, cast.charlie)
    assert {user.username for user in everybody if queries.sees_whole(back, user)} == seen
    assert readers_of(cast, sent) == seen & TEAM


def changed(data: bytes, path: str, change: Callable[[Any], Any]) -> bytes:
    """Return an archive with another content of one file, and sums that hold."""
    files = unpacked(data)
    if path.endswith(".jsonl"):
        files[path] = b"".join(json.dumps(change(line)).encode() + b"\n" for line in lines(files[path]))
    elif path.endswith(".json"):
        files[path] = json.dumps(change(json.loads(files[path]))).encode()
    else:
        # A folder: what was printed.
        printed = {name: change(content) for name, content in files.items() if name.startswith(f"{path}/")}
        assert any(files[name] != content for name, content in printed.items())
        files |= printed
    sums = [f"{hashlib.sha256(files[line.split()[1]]).hexdigest()}  {line.split()[1]}\n" for line in
            files["SHA256SUMS"].decode().splitlines()]  # fmt: skip
    return repacked((files | {"SHA256SUMS": "".join(sums).encode()}).items())


def ten_times(result: Any) -> Any:
    return result | {"samples": [[name, value * 10] for name, value in result["samples"]]}


def unmarked(trial: Any) -> Any:
    return trial | {"invalid_at": None, "invalid_reason": "", "invalid_by": None}


def widened(experiment: Any) -> Any:
    return experiment | {"fixed": experiment["fixed"] | {"streams": "8"}}


def spoken(about: Any) -> Any:
    note = about["notes"][0] | {"text": "I looked at every figure myself.", "created_by": "alice"}
    return about | {"notes": [*about["notes"], note], "people": [*about["people"], {"username": "alice", "name": ""}]}


def steadier(series: Any) -> Any:
    return series | {"values": [value + 1.0 for value in series["values"]]}


def of_another_command(trial: Any) -> Any:
    for run in trial["runs"]:
        for job in run["jobs"]:
            job["argv"] = [*job["argv"], "--fast"]
    return trial


FORGED = {
    "series": ("series.jsonl", steadier, "in time series"),
    "commands": ("trials.jsonl", of_another_command, "in what commands printed"),
    "outputs": ("raw", lambda printed: printed.replace(b"0", b"1"), "in what commands printed"),
    "results": ("results.jsonl", ten_times, "in results"),
    "marks": ("trials.jsonl", unmarked, "in trials or marks"),
    "experiments": ("experiments.jsonl", widened, "in its experiments"),
}


def test_only_what_was_deleted_comes_back_under_its_permanent_id(
    cast: SimpleNamespace, finished: Campaign, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    mark_invalid(trial=finished.trials.first(), user=cast.alice, reason="A cable.", now=timezone.now())
    add_note(campaign=finished, user=cast.alice, text="Quiet night.")
    everybody = {"visibility": V.PUBLIC, "redacted": False, "licence": "CC-BY-4.0"}
    Campaign.objects.filter(pk=finished.pk).update(**everybody)
    finished.refresh_from_db()
    permanent_id, page = finished.permanent_id, f"/c/{finished.permanent_id}/"
    data = b"".join(archive_of(finished, now=timezone.now()))

    def back(file: bytes) -> Campaign:
        sent = services.take(team=cast.team, user=cast.oscar, file=SimpleUploadedFile("a.zip", file))
        carry_out()
        services.agree(incoming=sent, user=cast.oscar)
        carry_out()
        sent.refresh_from_db()
        assert sent.state == IncomingArchive.State.DONE, sent.reason
        return Campaign.objects.latest("pk")

    def deleted(campaign: Campaign) -> None:
        campaigns.delete_campaign(campaign=campaign, user=cast.oscar, now=timezone.now())

    def log(campaign: Campaign) -> str:
        return " ".join(messages.render(event.message) for event in campaign.events.all())

    deleted(finished)
    true = back(data)
    assert (true.permanent_id, true.visibility, true.created_by) == (permanent_id, V.PUBLIC, cast.oscar)
    assert "Deleted by oscar, brought back by oscar from an archive" in log(true)
    assert (true.notes.get().created_by, true.notes.get().told_by) == (cast.alice, "")
    assert true.trials.get(invalid_at__isnull=False).invalid_by == cast.alice
    told = Client().get(page).content.decode()
    assert "brought back on" in told and "the figures are those deleted" in told
    assert true.origin_text == "measured here"
    deleted(true)
    for path, forge, where in FORGED.values():
        other = back(changed(data, path, forge))
        assert other.permanent_id != permanent_id and other.visibility == V.TEAM
        assert f"It differs from what was deleted here under {permanent_id} {where}" in log(other)
        # Nothing is lost, and nobody said any of it.
        assert other.trials.count() == 4
        assert (other.created_by, other.notes.get().created_by) == (cast.oscar, None)
        assert Client().get(page).status_code == 410
        told = signed_in(cast.bob).get(f"/c/{other.permanent_id}/").content.decode()
        assert "differs from what was deleted here" in told
        assert other.origin_text == "measured, as an archive says"
        deleted(other)
    words = back(changed(data, "campaign.json", spoken))
    assert (words.permanent_id, words.visibility, words.licence) == (permanent_id, V.PUBLIC, "CC-BY-4.0")
    assert {(note.created_by, note.told_by) for note in words.notes.all()} == {(None, "alice")}
    notes = signed_in(cast.bob).get(f"/campaigns/{words.pk}/notes/").content.decode()
    assert notes.count("alice, according to the archive") == 2
