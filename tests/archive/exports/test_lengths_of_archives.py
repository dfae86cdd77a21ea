"""However much somebody sends, what is stored and shown of it is bounded, and whoever lists it waits for nobody."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from apps.archive.campaigns.form import CAMPAIGN, EXPERIMENTS, FINDINGS, RESULTS, TRIALS, ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.writer import archive_of
from apps.archive.incoming import previews
from apps.archive.incoming.models import IncomingArchive
from apps.campaigns.models import Campaign
from apps.tuning.models import Finding
from tests import factories as people
from tests import rewriting
from tests.archive.exports.conftest import lines, repacked, unpacked
from tests.archive.exports.test_hostile_archives import summed

Change = Callable[[list[Any]], None]


@pytest.fixture
def files(finished: Campaign) -> dict[str, bytes]:
    """Return the files of an archive of a campaign that is gone."""
    content = unpacked(b"".join(archive_of(finished, now=timezone.now())))
    rewriting.delete(finished)
    return content


def archive(files: dict[str, bytes], name: str, change: Change) -> Archive:
    """Return the archive with the records of one of its files changed."""
    records = [json.loads(files[name])] if name == CAMPAIGN else lines(files[name])
    change(records)
    text = json.dumps(records[0]) if name == CAMPAIGN else "\n".join(map(json.dumps, records)) + "\n"
    return Archive(BytesIO(repacked(summed({**files, name: text.encode()}).items())), "a.zip")


def _wide(records: list[Any], name: str) -> None:
    records[0][name] = records[0][name] | {f"k{number}": "y" * 180 for number in range(5000)}


def _many_tags(records: list[Any]) -> None:
    records[0]["campaign"]["tags"] = [f"t{number}" for number in range(100_000)]


def _long_note(records: list[Any]) -> None:
    at = records[0]["campaign"]["created_at"]
    records[0]["notes"] = [{"text": "x" * 10_001, "created_by": "eve", "created_at": at, "updated_at": at}]


def _repeat_evidence(records: list[Any]) -> None:
    details = records[0]["details"]
    details["evidence"] = details["evidence"][:1] * 10_000


def _long_against(records: list[Any]) -> None:
    records[0]["details"]["against"] = [{"msgid": "x" * 1000, "params": {}}] * 100


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (FINDINGS, _repeat_evidence),
        (FINDINGS, _long_against),
        (CAMPAIGN, _many_tags),
        (CAMPAIGN, _long_note),
        (EXPERIMENTS, lambda records: _wide(records, "fixed")),
        (TRIALS, lambda records: _wide(records, "parameters")),
        (RESULTS, lambda records: _wide(records, "requested")),
        (RESULTS, lambda records: _wide(records, "granted")),
        (RESULTS, lambda records: _wide(records, "observed")),
    ],
)
def test_what_is_longer_than_other_doors_take_is_refused_by_its_place(
    files: dict[str, bytes], cast: SimpleNamespace, name: str, change: Change
) -> None:
    with pytest.raises(ArchiveError) as refused:
        store(
            archive=archive(files, name, change),
            team=cast.other_team, user=cast.charlie, choices=Choices(), now=timezone.now(),
        )  # fmt: skip
    assert name in str(refused.value)
    assert not Campaign.objects.exists()


def test_a_preview_shows_how_many_there_are_and_the_first_and_no_list_has_it(
    files: dict[str, bytes], cast: SimpleNamespace, client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path

    def add_people(records: list[Any]) -> None:
        records[0]["people"] = [{"username": f"u{number}", "name": "y" * 140} for number in range(50_000)]

    preview = previews.preview_of(archive(files, CAMPAIGN, add_people), cast.team)
    assert preview["totals"]["people"] == 50_000 and len(preview["people"]) == previews.MOST_SHOWN
    IncomingArchive._meta.get_field("preview").run_validators(preview)
    incoming = IncomingArchive.objects.create(
        team=cast.team, created_by=cast.oscar, name="a.zip", size=4, state="ready", preview=preview
    )
    key = people.bearer(cast.oscar)
    (row,) = client.get("/api/v1/campaign-archives/", **key).json()["results"]
    assert "preview" not in row and row["kept_until"]
    assert client.get(f"/api/v1/campaign-archives/{incoming.pk}/", **key).json()["preview"] == preview
    client.force_login(cast.oscar)
    incoming.path.parent.mkdir(parents=True, exist_ok=True)
    incoming.path.write_bytes(b"kept")
    page = client.get(incoming.get_absolute_url()).text
    assert "the first 100 of 50000" in page and "u99" in page and "u100 " not in page


def test_a_finding_may_rest_on_as_many_trials_as_there_are(finished: Campaign) -> None:
    """What the service concluded of a large campaign is in an archive that it takes again."""
    details = Finding.objects.earliest("pk").details
    field = Finding._meta.get_field("details")
    field.run_validators(details | {"evidence": [[number, 0] for number in range(100_000)]})
    with pytest.raises(ValidationError, match="too long"):
        field.run_validators(details | {"why": ["x" * field.most_bytes]})
