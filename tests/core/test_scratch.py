"""Temporary files: one folder for each process, removed when that is gone; uploads cut off leave nothing."""

import ast
import os
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from pytest_django import Settings

from apps.archive.imports import uploads
from apps.archive.imports.models import Import
from apps.archive.incoming import services as incoming
from apps.archive.incoming.models import IncomingArchive
from apps.core import scratch
from apps.reports.files import services as rendering
from tests import factories as people
from tests.factories import Cast
from tests.test_architecture import ROOT, SOURCES, imports_of, module_of, tree_of

NOW = datetime.now(UTC)
LATER = NOW + timedelta(hours=2)


@pytest.fixture
def var(settings: Settings, tmp_path: Path) -> Path:
    """Return a VAR_DIR of the test's own."""
    settings.VAR_DIR = tmp_path
    return tmp_path


# Where each source has been read once already.
@pytest.mark.xdist_group("architecture")
def test_nobody_else_makes_temporary_files() -> None:
    makers = {
        module_of(path)
        for path in SOURCES
        if path.is_relative_to(ROOT / "apps") or path.is_relative_to(ROOT / "workers")
        # The program on the nodes knows no folder of the service's.
        if not path.is_relative_to(ROOT / "workers" / "agent")
        if "tempfile" in imports_of(tree_of(path))
    }
    assert makers == {"apps.core.scratch"}


def test_django_puts_what_is_sent_there(var: Path) -> None:
    with TemporaryUploadedFile("a.txt", "text/plain", 0, "utf-8") as file:
        assert Path(file.temporary_file_path()).parent == scratch.folder()
    assert scratch.folder().is_relative_to(var / "tmp")
    assert os.fspath(django_settings.FILE_UPLOAD_TEMP_DIR) == str(scratch.folder())


def test_what_is_made_is_gone_at_the_end(var: Path) -> None:
    with scratch.new_folder("sheets") as folder, scratch.new_file() as file:
        (folder / "a").write_text("x")
        file.write(b"x")
    assert [path.name for path in scratch.folder().iterdir()] == ["lock"]


def test_a_killed_process_leaves_nothing_and_a_living_one_keeps_its_own(var: Path) -> None:
    program = (
        "import django, time; django.setup(); from apps.core import scratch; "
        "(scratch.folder() / 'half.upload').write_text('x'); print(scratch.folder(), flush=True); time.sleep(60)"
    )
    environment = {
        **os.environ, "FATHOM_VAR": str(var), "DJANGO_SETTINGS_MODULE": "apps.config.settings.test",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    with subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE) as child:
        assert child.stdout
        theirs = Path(child.stdout.readline().decode().strip())
        own = scratch.folder() / "mine.upload"
        own.write_text("x")
        scratch.sweep(now=NOW)
        assert theirs.is_dir() and (theirs / "half.upload").is_file(), "it lives"
        child.kill()
    scratch.sweep(now=datetime.now(UTC))
    assert not theirs.exists()
    assert own.is_file()
    scratch.sweep(now=LATER)
    assert not own.exists(), "nobody has written to it for hours"
    assert (scratch.folder() / "lock").is_file()


def test_a_folder_without_a_lock_is_left_after_a_moment(var: Path) -> None:
    young = var / "tmp" / "young"
    young.mkdir(parents=True)
    scratch.sweep(now=datetime.now(UTC))
    assert young.is_dir()
    scratch.sweep(now=datetime.now(UTC) + timedelta(minutes=2))
    assert not young.exists()


def test_files_that_no_row_names_are_swept_after_an_hour_and_others_never(cast: Cast, var: Path) -> None:
    imported = Import.objects.create(team=cast.team, name="x", kind="outputs")
    archive = IncomingArchive.objects.create(team=cast.team, name="x", size=1)
    named = [var / "imports" / str(imported.pk), archive.path]
    orphans = [
        var / "imports" / "999999", var / "archives" / "999999.zip", var / "reports" / f"{'a' * 32}.pdf",
        var / "reports" / "report-x1",
    ]  # fmt: skip
    for path in (*named, *orphans):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.write_text("x")
        else:
            path.mkdir()
            (path / "0").write_text("x")
    for moment, are_there in ((NOW, True), (LATER, False)):
        for sweep in (uploads.sweep, incoming.sweep, rendering.sweep):
            sweep(now=moment)
        assert [path.exists() for path in orphans] == [are_there] * len(orphans)
        assert all(path.exists() for path in named)


SERVER = """
import os, socket, sys, uvicorn
config = uvicorn.Config("apps.config.asgi:application", lifespan="off", log_level="warning")
uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
"""


@pytest.mark.django_db(transaction=True)
def test_an_upload_that_is_cut_off_leaves_nothing(tmp_path: Path) -> None:
    cast = people.cast()
    token = people.token(cast.oscar)
    listener = socket.create_server(("127.0.0.1", 0))
    environment = {
        **os.environ, "FATHOM_VAR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "apps.config.settings.test",
        "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "system"), "DATABASE_URL": _database_of_the_test(),
    }  # fmt: skip
    (tmp_path / "system").mkdir()
    head = (
        f"POST /api/v1/imports/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 60000000\r\n\r\n--x\r\n"
        'Content-Disposition: form-data; name="sent"; filename="a.txt"\r\n\r\n'
    ).encode()
    command = [sys.executable, "-c", SERVER, str(listener.fileno())]
    with subprocess.Popen(command, env=environment, pass_fds=[listener.fileno()]) as server:
        try:
            for _ in range(2):
                with socket.create_connection(listener.getsockname()) as connection:
                    connection.sendall(head + b"x" * 20_000_000)
            # What is sent after it is answered: the server has seen the end of both.
            with socket.create_connection(listener.getsockname()) as connection:
                connection.sendall(b"GET /health/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                assert connection.recv(100).startswith(b"HTTP/1.1 200")
            deadline = time.monotonic() + 30
            while _left(tmp_path) and time.monotonic() < deadline:
                time.sleep(0.1)
            in_system = list((tmp_path / "system").iterdir())
        finally:
            server.kill()
            server.wait()
            listener.close()
    assert in_system == []
    # Killed in the middle, too: the next that starts finds nothing that has an owner.
    program = (
        "import apps.config.asgi; from django.utils import timezone; from apps.core import scratch; "
        "scratch.sweep(now=timezone.now())"
    )
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert _left(tmp_path) == []
    assert not Import.objects.exists()


def _left(var: Path) -> list[Path]:
    return [path for place in ("tmp", "imports", "system") for path in (var / place).rglob("*") if path.is_file()
            and path.name != "lock"]  # fmt: skip


def _database_of_the_test() -> str:
    given = os.environ["DATABASE_URL"]
    name = django_settings.DATABASES["default"]["NAME"]
    head, _, query = given.partition("?")
    return f"{head.rpartition('/')[0]}/{name}" + (f"?{query}" if query else "")


def test_the_test_of_makers_sees_an_import() -> None:
    assert "tempfile" in imports_of(ast.parse("from tempfile import mkdtemp"))
