"""A large archive is looked through in turns: others come between, and a worker that is lost costs one turn."""

import io
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.archive.campaigns import form
from apps.archive.campaigns.reader import Archive
from apps.archive.incoming import services
from apps.archive.models import IncomingArchive
from apps.campaigns.models import Campaign
from tests import rewriting
from tests.archive.exports.conftest import repacked, unpacked, whole


class Lost(BaseException):
    """A worker that was killed: nothing of it is caught."""


@pytest.fixture(autouse=True)
def kept(settings: Any, tmp_path: Path) -> Path:
    """Keep files of the tests by themselves."""
    settings.VAR_DIR = tmp_path
    return tmp_path


@pytest.fixture
def packed(client: Client, cast: SimpleNamespace, finished: Campaign) -> bytes:
    """Return the archive of a campaign that is not here any more."""
    client.force_login(cast.oscar)
    data = whole(client.get(f"/exports/campaigns/{finished.pk}/archive.zip"))
    rewriting.delete(finished)
    return data


def take(cast: SimpleNamespace, data: bytes, **more: Any) -> IncomingArchive:
    """Return an archive that was sent."""
    sent = {"team": cast.team, "created_by": cast.oscar, "name": "a.zip", "size": len(data), **more}
    made = IncomingArchive.objects.create(**sent)
    made.path.parent.mkdir(parents=True, exist_ok=True)
    made.path.write_bytes(data)
    return made


def carry_out() -> bool:
    return services.carry_out_next(now=timezone.now())


def files_of(data: bytes) -> int:
    return len(zipfile.ZipFile(io.BytesIO(data)).namelist())


def test_it_is_looked_through_and_stored_in_turns(
    cast: SimpleNamespace, packed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "TURN_S", -1.0)
    archive = take(cast, packed)
    for state, next_state in (("waiting", "ready"), ("agreed", "done")):
        # A file a turn: each is compared once.
        for turn in range(1, files_of(packed)):
            assert carry_out()
            archive.refresh_from_db()
            assert (archive.state, archive.done, archive.total, archive.attempts) == (
                state,
                turn,
                files_of(packed),
                0,
            )
        assert carry_out()
        archive.refresh_from_db()
        assert archive.state == next_state
        if next_state == "ready":
            services.agree(incoming=archive, user=cast.oscar)
    assert Campaign.objects.get().pk == archive.campaign_id


def test_another_teams_comes_between_two_turns(
    cast: SimpleNamespace, packed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "TURN_S", -1.0)
    large = [take(cast, packed) for _copy in range(3)]
    assert carry_out()
    small = take(cast, b"PK\x03\x04", team=cast.other_team, created_by=cast.charlie)
    assert carry_out()
    small.refresh_from_db()
    assert small.state == "refused"
    # Those of one team take turns, too.
    assert carry_out() and carry_out() and carry_out()
    done = IncomingArchive.objects.filter(pk__in=[row.pk for row in large]).values_list("done", flat=True)
    assert sorted(done) == [1, 1, 2]


def test_a_worker_that_is_lost_costs_a_turn_and_not_the_whole(
    cast: SimpleNamespace, packed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    incoming = take(cast, packed)
    with monkeypatch.context() as short:
        short.setattr(services, "TURN_S", -1.0)
        for _turn in range(3):
            assert carry_out()
    compared: list[str] = []
    digest = Archive._digest

    def deadly(archive: Archive, name: str) -> str:
        if len(compared) == 2:
            raise Lost
        compared.append(name)
        return digest(archive, name)

    for lost in range(1, services.MOST_ATTEMPTS):
        with monkeypatch.context() as killed:
            killed.setattr(Archive, "_digest", deadly)
            with pytest.raises(Lost):
                carry_out()
        compared.clear()
        incoming.refresh_from_db()
        assert (incoming.state, incoming.done, incoming.attempts) == ("checking", 3, lost)
        services.resume(now=timezone.now())
    monkeypatch.setattr(Archive, "_digest", lambda archive, name: compared.append(name) or digest(archive, name))
    assert carry_out()
    incoming.refresh_from_db()
    assert incoming.state == "ready"
    # What was compared before is not compared again, and all else is.
    names = [name for name in unpacked(packed) if name != form.SUMS]
    assert set(names[4:]) <= set(compared) <= set(names) and len(compared) <= files_of(packed) - 3


def test_what_is_wrong_with_a_late_file_is_found_in_a_later_turn(
    cast: SimpleNamespace, packed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "TURN_S", -1.0)
    files = unpacked(packed)
    last = [name for name in files if name.startswith("raw/")][-1]
    archive = take(cast, repacked({**files, last: b"other"}.items()))
    while carry_out():
        pass
    archive.refresh_from_db()
    assert (archive.state, archive.reason["params"]["name"]) == ("refused", last)


def test_a_file_that_is_too_large_to_be_read_is_not_unpacked_for_its_sum(
    cast: SimpleNamespace, packed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(form, "LONGEST_RAW", 1000)
    read: list[str] = []
    monkeypatch.setattr(Archive, "_digest", lambda _archive, name: read.append(name))
    files = unpacked(packed)
    archive = take(cast, repacked({**files, "raw/big": b"0" * 2000}.items()))
    sums = files[form.SUMS] + b"0" * 64 + b"  raw/big\n"
    changed = repacked({**files, "raw/big": b"0" * 2000, form.SUMS: sums}.items())
    archive.path.write_bytes(changed)
    type(archive).objects.filter(pk=archive.pk).update(size=len(changed))
    assert carry_out()
    archive.refresh_from_db()
    assert (archive.state, read) == ("refused", [])
    assert "raw/" in archive.reason["params"]["place"]
