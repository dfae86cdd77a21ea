"""Archives that nobody decides on expire after some days; those that are decided, or worked at, never do."""

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from apps.archive.incoming import services
from apps.archive.models import IncomingArchive
from apps.bench.text import Message
from tests import factories
from tests.agents.factories import listening
from workers import tasks

PREVIEW = {
    "campaign": "7k3m-9qxt-2v4h", "name": "Afar", "team": "x", "counts": {}, "nodes": [], "new": [], "differing": [],
    "people": [],
}  # fmt: skip


@pytest.fixture(autouse=True)
def kept(settings: Any, tmp_path: Path) -> Path:
    """Keep files of the tests by themselves."""
    settings.VAR_DIR = tmp_path
    (tmp_path / "archives").mkdir()
    return tmp_path


def archive(cast: SimpleNamespace, state: str, days: float, **values: Any) -> IncomingArchive:
    """Return an archive with its file that changed so many days ago for the last time."""
    made = IncomingArchive.objects.create(
        team=cast.team, created_by=cast.oscar, name="a.zip", size=4, state=state, **{"preview": PREVIEW, **values}
    )
    made.path.write_bytes(b"PK\x03\x04")
    IncomingArchive.objects.filter(pk=made.pk).update(updated_at=timezone.now() - timedelta(days=days))
    made.refresh_from_db()
    return made


def test_what_nobody_decides_on_goes_with_its_file_and_says_what_to_do(cast: SimpleNamespace, client: Client) -> None:
    early, late = archive(cast, "ready", 13.9), archive(cast, "ready", 14.1)
    client.force_login(cast.oscar)
    until = f"{early.kept_until:%Y-%m-%d %H:%M}"
    for address in (early.get_absolute_url(), "/exports/archives/"):
        assert f">{until}</time>" in client.get(address).content.decode()
    told = client.get(f"/api/v1/campaign-archives/{early.pk}/", **factories.bearer(cast.oscar)).json()
    assert told["kept_until"].startswith(f"{early.kept_until:%Y-%m-%d}")
    listening()
    tasks.retain()
    for found in (early, late):
        found.refresh_from_db()
    assert (early.state, early.path.exists()) == ("ready", True)
    assert (late.state, late.path.exists(), late.kept_until) == ("expired", False, None)
    page = client.get(late.get_absolute_url()).content.decode()
    assert "Nobody decided on it within 14 days" in page and "Nothing was stored." in page
    assert "Import all of it" not in page and "/exports/archives/" in page
    with pytest.raises(ValidationError, match="send the archive again"):
        services.agree(incoming=late, user=cast.oscar)
    assert client.post(f"/exports/archives/{late.pk}/give-up/").status_code == 302


def test_one_that_was_refused_but_may_be_decided_otherwise_expires_and_still_says_why(cast: SimpleNamespace) -> None:
    made = archive(cast, "refused", 14.1, reason=Message("No node is called so.").as_json())
    services.expire(now=timezone.now())
    made.refresh_from_db()
    assert (made.state, made.path.exists()) == ("expired", False)
    assert made.reason["params"]["what"]["msgid"] == "No node is called so."


@pytest.mark.parametrize("state", ["waiting", "checking", "agreed", "storing", "done"])
def test_what_is_worked_at_or_decided_never_expires(cast: SimpleNamespace, state: str) -> None:
    made = archive(cast, state, 1000)
    services.expire(now=timezone.now())
    made.refresh_from_db()
    assert (made.state, made.path.exists(), made.kept_until) == (state, True, None)


def test_the_file_of_one_in_which_nothing_was_found_is_removed_at_once(cast: SimpleNamespace) -> None:
    made = archive(cast, "waiting", 0, preview={})
    services.carry_out_next(now=timezone.now())
    made.refresh_from_db()
    assert (made.state, made.path.exists(), made.kept_until) == ("refused", False, None)


def test_one_whose_file_cannot_be_removed_keeps_no_other_from_it(
    cast: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    stuck, free = archive(cast, "ready", 15), archive(cast, "ready", 15)
    stuck.path.unlink()
    stuck.path.mkdir()
    services.expire(now=timezone.now())
    for found in (stuck, free):
        found.refresh_from_db()
    assert (stuck.state, free.state) == ("ready", "expired")
    assert f"expire_archives failed with row {stuck.pk}" in caplog.text
