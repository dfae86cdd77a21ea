"""A full disk under what is sent: 507 in words at every place that takes files, and nothing is left behind."""

import errno
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver

from apps.archive.imports.models import Import
from apps.archive.incoming.models import IncomingArchive
from apps.core import scratch, space, web
from tests import factories
from tests.core import broken
from tests.factories import Cast
from tests.rest import schema
from tests.rotation import part_of

pytestmark = pytest.mark.django_db(transaction=True)
KIB = 1024
Files = dict[str, Any]

# Each place that takes files, and what is sent there with them.
PAGES: dict[str, Callable[[Cast, bytes], Files]] = {
    "/imports/new/": lambda cast, data: {"team": cast.team.pk, "kind": "outputs", "sent": file(data)},
    "/exports/archives/": lambda cast, data: {"team": cast.team.pk, "archive": file(b"PK\x03\x04" + data)},
    "/inventory/import/": lambda cast, data: {"team": cast.team.pk, "file": file(data)},
    "/published/import/": lambda cast, data: {"team": cast.team.pk, "published": file(data)},
    "/tools/import/": lambda cast, data: {"team": cast.team.pk, "file": file(data)},
}
REST = {
    "/api/v1/imports/": lambda cast, data: {"team": cast.team.slug, "kind": "outputs", "sent": file(data)},
    "/api/v1/campaign-archives/": lambda cast, data: {"team": cast.team.slug, "archive": file(b"PK\x03\x04" + data)},
}
PLACES = {**PAGES, **REST}
# Those that keep the files themselves.
KEEPING = ("/imports/new/", "/exports/archives/", *REST)


def file(data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("sent.zip", data)


@pytest.fixture
def send(cast: Cast) -> Callable[[str, bytes], Any]:
    """Send files to a place as an operator who may."""

    def send_to(place: str, data: bytes) -> Any:
        client = Client(raise_request_exception=False)
        headers = factories.bearer(cast.oscar) if place in REST else {}
        if not headers:
            client.force_login(cast.oscar)
        return client.post(place, PLACES[place](cast, data), **headers)

    return send_to


@pytest.fixture
def var(tmp_path: Path, settings: Any) -> Path:
    settings.VAR_DIR = tmp_path
    return tmp_path


@pytest.fixture
def small_disk(var: Path) -> Iterator[Path]:
    """Return VAR_DIR on a file system of 1 MiB."""
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(var)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    yield var
    subprocess.run(["umount", "-l", str(var)], check=True)


def left_in(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != "lock"]


def plain_addresses(resolver: URLResolver | None = None, route: str = "/") -> Iterator[str]:
    """Yield the address of every page that needs nothing to be named."""
    for item in (resolver or get_resolver()).url_patterns:
        whole = route + str(item.pattern)
        if isinstance(item, URLPattern) and not re.search(r"[<^(]", whole):
            yield whole
        elif isinstance(item, URLResolver) and not whole.startswith(("/api/", "/admin/")):
            yield from plain_addresses(item, whole)


def test_every_place_that_takes_files_is_walked_here(cast: Cast) -> None:
    client = Client()
    client.force_login(cast.alice)
    addresses = set(plain_addresses())
    assert addresses >= set(PAGES)
    asked = part_of(sorted(addresses))
    pages = {address for address in asked if b'type="file"' in getattr(client.get(address), "content", b"")}
    assert pages == set(PAGES) & set(asked)
    document = schema.document()
    rest = {
        path
        for path, _method, operation in schema.operations(document)
        if "'binary'" in str(sent_in(document, operation))
    }
    assert rest == set(REST)


def sent_in(document: schema.Json, operation: schema.Json) -> Any:
    """Return the description of the form that an operation takes."""
    form = operation.get("requestBody", {}).get("content", {}).get("multipart/form-data", {}).get("schema", {})
    return document["components"]["schemas"].get(form.get("$ref", "").rpartition("/")[2], form)


@pytest.mark.parametrize("place", PLACES)
def test_what_there_is_no_room_for_is_refused_before_it_is_taken(
    place: str, send: Callable[[str, bytes], Any], var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "free_bytes", lambda: space.RESERVE_BYTES + 100 * KIB)
    refused = send(place, b"x" * 100 * KIB)
    assert refused.status_code == 507
    text = refused.json()["detail"] if place in REST else refused.content.decode()
    assert re.search(r"needs 20\d\.\d\sKB and 100\.0\sKB are free", text), text
    assert (left_in(var), Import.objects.exists(), IncomingArchive.objects.exists()) == ([], False, False)
    # Less fits.
    assert send(place, b"x" * 10 * KIB).status_code != 507


@pytest.mark.parametrize("place", PLACES)
def test_a_disk_that_fills_up_meanwhile_is_told_and_nothing_half_written_is_left(
    place: str, send: Callable[[str, bytes], Any], small_disk: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    # As if another had taken the room after the look.
    monkeypatch.setattr(space, "refusal", lambda _length, _kind: None)
    # To the disk at once, as files of many megabytes are.
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 0
    refused = send(place, os.urandom(3 * 1024 * KIB))
    assert refused.status_code == 507, refused.content
    text = refused.json()["detail"] if place in REST else refused.content.decode()
    assert "The server&#x27;s disk is full" in text or "The server's disk is full" in text
    assert (left_in(small_disk), Import.objects.exists(), IncomingArchive.objects.exists()) == ([], False, False)


@pytest.mark.parametrize("place", KEEPING)
def test_a_file_that_fits_in_memory_and_not_where_it_is_kept_is_not_left_half(
    place: str, send: Callable[[str, bytes], Any], small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "refusal", lambda _length, _kind: None)
    refused = send(place, os.urandom(2 * 1024 * KIB))
    assert refused.status_code == 507, refused.content
    assert (left_in(small_disk), Import.objects.exists(), IncomingArchive.objects.exists()) == ([], False, False)


@pytest.mark.urls("tests.core.broken")
@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "full"), OSError(errno.EDQUOT, "over quota"), space.NoSpaceError(0)],
    ids=repr,
)
def test_whoever_meets_a_full_disk_answers_507(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(raise_request_exception=False)
    for address in ("/raise/", "/api/raise/", "/api/view/"):
        monkeypatch.setattr(broken, "errors", [error])
        assert client.get(address).status_code == 507, address


@pytest.mark.parametrize(
    ("free", "words"),
    [
        (0, "is full: 0"),
        (space.RESERVE_BYTES - 1, "is full: 0"),
        (800 * 1024**2, "may hold as many files"),
    ],
)
def test_no_disk_is_called_full_that_has_room(free: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "free_bytes", lambda: free)
    assert words in space.words_of(OSError(errno.ENOSPC, "no room"))
    # Where so much is free as was needed, that was not what was missing.
    assert words in space.words_of(space.NoSpaceError(max(0, free - space.RESERVE_BYTES) // 2))


def test_a_full_disk_of_the_database_is_one_and_another_error_is_none() -> None:
    full = OperationalError("could not extend file")
    full.__cause__ = psycopg.errors.DiskFull()
    assert space.is_missing(full)
    assert not space.is_missing(OSError(errno.EACCES, "no"))
    assert not space.is_missing(ValueError("ours"))


def test_a_form_without_files_is_taken_on_a_full_disk(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "free_bytes", lambda: 0)
    answer = Client().post(
        "/accounts/login/", "username=nobody&password=x", content_type="application/x-www-form-urlencoded"
    )
    assert answer.status_code == 200


class Body:
    """A body that comes in pieces, and how many of them were taken."""

    def __init__(self, *, pieces: int, told: bool) -> None:
        size = 100 * KIB
        self._left = [b"x" * size] * pieces
        length = [(b"content-length", str(size * pieces).encode())] if told else []
        self.scope = {"type": "http", "method": "POST", "path": "/imports/new/"}
        self.scope["headers"] = [*length, (b"content-type", b"application/octet-stream")]

    async def receive(self) -> dict[str, Any]:
        """Return the next piece."""
        piece = self._left.pop()
        return {"type": "http.request", "body": piece, "more_body": bool(self._left)}

    @property
    def is_read(self) -> bool:
        """Return whether nothing of it is left."""
        return not self._left


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have whoever sends something signed in."""
    monkeypatch.setattr(web, "_sender_of", lambda _head: "person 1")


async def taken(body: Body) -> Any:
    """Return what the web process makes of a body."""
    sender = web._Sender(body.scope, body.receive)
    with closing(sender.intake):
        return await web.PageHandler().read_body(sender)


async def test_a_body_is_read_to_its_end_and_not_kept_where_there_is_no_room(
    known: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = Body(pieces=50, told=True)
    monkeypatch.setattr(space, "free_bytes", lambda: space.RESERVE_BYTES + 200 * KIB)
    kept = await taken(body)
    assert isinstance(kept.refusal, space.NoSpaceError)
    assert kept.refusal.needed == 50 * 100 * KIB * space.COPIES
    assert (body.is_read, kept.read()) == (True, b"")
    monkeypatch.setattr(space, "free_bytes", lambda: 1024 * space.RESERVE_BYTES)
    kept = await taken(Body(pieces=50, told=True))
    assert (kept.refusal, len(kept.read())) == (None, 50 * 100 * KIB)


async def test_the_room_is_looked_at_while_a_body_comes(
    known: None, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def free_bytes() -> int:
        looks.append(1)
        return space.RESERVE_BYTES - 1

    monkeypatch.setattr(space, "free_bytes", free_bytes)
    kept = await taken(Body(pieces=100, told=False))
    # 10 MB of an unknown length: the head asked for no room, the first look during the body finds none.
    assert (len(looks), kept.read(), left_in(var)) == (1, b"", [])
    assert isinstance(kept.refusal, space.NoSpaceError)


async def test_a_body_whose_length_nobody_told_is_given_up_when_the_disk_is_full(
    known: None, small_disk: Path
) -> None:
    body = Body(pieces=50, told=False)
    kept = await taken(body)
    assert space.is_missing(kept.refusal)
    assert (body.is_read, kept.read(), left_in(small_disk)) == (True, b"", [])
    request: HttpRequest = RequestFactory().post("/imports/new/")
    request.body_refusal = kept.refusal  # type: ignore[attr-defined]
    assert web.refusal_of(request) is kept.refusal


def test_what_is_written_whole_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with space.whole(path):
        path.write_text("x")
    assert path.exists()
    with pytest.raises(OSError, match="full"), space.whole(path):
        raise OSError(errno.ENOSPC, "full")
    assert not path.exists()
    assert scratch.folder().is_dir()
