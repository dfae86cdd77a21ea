"""What starts from other code than the tables are of waits with one sentence; everybody who looks is told it."""

import functools
import json
import os
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import translation

from apps.core import broker, clock, holding, migrated, secrets, signs, tables
from tests.agents import live
from tests.agents.live import wait_for
from tests.core import versions
from workers import waiting

ONE = "Restart the service: 1 migration is to be applied."


@pytest.fixture(autouse=True)
def nothing_was_found() -> Iterator[None]:
    """Begin as a process that has not looked yet, and leave the broker as one that knows of nothing."""
    migrated._last, holding._state = migrated.TableCheck(), holding._State()
    tables.of_this_code.cache_clear()
    yield
    migrated._last, holding._state = migrated.TableCheck(), holding._State()
    tables.of_this_code.cache_clear()
    broker.client(timeout_s=1).delete(signs._STEPS)


@pytest.fixture
def pulled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put other code in the place of this process's own, after it began; return the file of its new step."""
    tables.of_this_code()
    file = tmp_path / "migrations" / "0999_later.py"
    file.parent.mkdir()
    file.write_text("class Migration:\n    dependencies = []\n")
    folders = (*tables._folders(), ("campaigns", True, str(file.parent)))
    monkeypatch.setattr(tables, "_folders", lambda: folders)
    return file


def test_the_files_say_what_django_finds_in_them() -> None:
    loader = MigrationLoader(None)
    found = tables.on_disk()
    assert found.names == set(loader.disk_migrations)
    former = {step: set(made.replaces) for step, made in loader.disk_migrations.items() if made.replaces}
    assert found.former == {step: frozenset(steps) for step, steps in former.items() if step[0] in found.own}
    # What others replace is of no consequence here: their steps are looked for only, never looked at as too many.
    assert {app for app, _name in former} - found.own <= {app for app, _name in found.names}


@pytest.mark.parametrize(
    ("taken", "added", "expected"),
    [
        ((), (), None),
        ((versions.STEP,), (), tables.VersionGap(pending=1)),
        ((), (versions.LATER,), tables.VersionGap(later=("campaigns.0999_later",))),
        ((), (("no_room", "0007_anything"),), None),
    ],
    ids=["all", "one lacks", "one too many", "a room that is no more"],
)
def test_what_the_tables_lack_or_have_too_many_is_counted(
    taken: tuple[tables.Step, ...], added: tuple[tables.Step, ...], expected: tables.VersionGap | None
) -> None:
    code = tables.on_disk()
    gone = {former for step in taken for former in (step, *code.former.get(step, ()))}
    assert tables.compare(code, versions.all_steps() - gone | set(added)) == expected


@pytest.mark.django_db
def test_a_database_with_the_former_steps_only_has_all(monkeypatch: pytest.MonkeyPatch) -> None:
    code = tables.on_disk()
    assert tables.compare(code, versions.all_steps() - set(code.former)) is None


@pytest.mark.django_db
def test_the_tests_own_database_is_of_this_code(client: Client) -> None:
    assert migrated.trouble() is None
    part = client.get("/health/").json()["parts"]["migrations"]
    assert (part["ok"], part["what"]) == (True, "All are applied, and this is the code for them.")


@pytest.mark.django_db
def test_code_that_was_put_beneath_a_running_service_is_told_until_it_is_restarted(
    client: Client, admin_client: Client, pulled: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    part = answer.json()["parts"]["migrations"]
    assert (part["ok"], part["what"]) == (False, ONE)
    migrated._last = migrated.TableCheck(gap=migrated._last.gap, since=migrated._last.since)
    assert client.get("/health/").json()["parts"]["migrations"]["since"] == part["since"]
    assert [record.getMessage() for record in caplog.records].count(ONE) == 1
    assert ONE in admin_client.get("/admin/").content.decode()
    with translation.override("ko"):
        assert "1" in tables.VersionGap(pending=1).words() != ONE
    pulled.unlink()
    migrated._last = migrated.TableCheck()
    assert client.get("/health/").json()["parts"]["migrations"]["ok"]
    assert "errornote" not in admin_client.get("/admin/").content.decode()


@pytest.mark.django_db
def test_a_process_of_before_a_migration_says_that_it_is(pulled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrated, "applied", lambda: versions.all_steps() | {versions.LATER})
    gap = migrated.look().gap
    assert gap == tables.VersionGap(is_stale=True)
    assert gap.words() == "Restart the service: it still runs code of before the last migrations."


@pytest.mark.django_db
def test_a_command_of_other_code_does_nothing(django_user_model: type) -> None:
    MigrationRecorder.Migration.objects.filter(app="comparison").delete()
    with pytest.raises(CommandError, match=r"Nothing was done\. Restart the service: \d migrations? "):
        call_command("create_account", "--username", "late", "--team", "Late", stdout=StringIO())
    assert not django_user_model.objects.exists()  # type: ignore[attr-defined]
    MigrationRecorder.Migration.objects.filter(app="testbeds").delete()
    with pytest.raises(CommandError, match="is empty"):
        call_command("read_output", os.devnull)


@pytest.mark.django_db
def test_a_command_looks_with_one_query() -> None:
    with connection.cursor() as cursor:
        tables.of_this_code()
        before = len(connection.queries_log)
        connection.force_debug_cursor = True
        try:
            assert migrated.applied(cursor) >= tables.of_this_code().names
        finally:
            connection.force_debug_cursor = False
    assert len(connection.queries_log) - before <= 1


def test_the_timetable_waits_by_what_others_noted_and_tells_its_supervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign, waits = tmp_path / "sign", tmp_path / "waits"
    monkeypatch.setenv(waiting.FILE, str(sign))
    monkeypatch.setenv(holding.FILE, str(waits))
    monkeypatch.setattr(waiting, "LOOK_EVERY_S", 0.02)
    signs.note_steps(versions.all_steps() | {versions.LATER})
    thread = threading.Thread(target=waiting.until_none, args=(waiting.trouble_of_timetable,), daemon=True)
    thread.start()
    wait_for(lambda: waits.exists() and "or of another one: it has campaigns.0999_later" in waits.read_text())
    wait_for(sign.exists)
    assert thread.is_alive()
    signs.note_steps(versions.all_steps())
    thread.join(20)
    assert not thread.is_alive() and not waits.exists()


def test_the_process_of_the_timetable_waits(tmp_path: Path) -> None:
    log, waits = tmp_path / "log", tmp_path / "waits"
    code = tables.of_this_code()
    gone = {versions.STEP, *code.former[versions.STEP]}
    signs.note_steps(versions.all_steps() - gone)
    own = {"DJANGO_SETTINGS_MODULE": "apps.config.settings.test", holding.FILE: str(waits)}
    words = ("-m", "workers", "beat", "--scheduler=workers.signs:Timetable", "--pidfile=")
    with versions.started(log, *words, **{**os.environ, **own}) as beat:
        wait_for(lambda: waits.exists() or beat.poll() is not None)
        assert beat.poll() is None, log.read_text()
        assert waits.read_text() == ONE
        wait_for(lambda: f"waits before it begins: {ONE}" in log.read_text())


def test_without_a_note_the_timetable_begins() -> None:
    broker.client(timeout_s=1).delete(signs._STEPS)
    assert waiting.trouble_of_timetable() is None


@pytest.mark.django_db
def test_a_worker_takes_nothing_before_the_tables_are_those_of_its_code(tmp_path: Path) -> None:
    log, sign, waits = (tmp_path / name for name in ("log", "sign", "waits"))
    words = (
        "-m",
        "workers",
        "worker",
        "--queues=tests.none",
        "--hostname=waits@here",
        "--concurrency=1",
        "--pool=solo",
    )
    with versions.migrated("fathom_of_a_worker") as database:
        database.take_back(versions.STEP)
        files = {waiting.FILE: str(sign), holding.FILE: str(waits)}
        own = {"DJANGO_SETTINGS_MODULE": "apps.config.settings.test", "DATABASE_URL": database.url, **files}
        with versions.started(log, *words, **{**os.environ, **own}) as worker:
            wait_for(lambda: waits.exists() and sign.exists())
            assert (waits.read_text(), sign.exists()) == (ONE, True)
            assert f"waits before it begins: {ONE}" in log.read_text()
            assert not [given for given in signs.given() if given.part == "waits"]
            database.apply(versions.STEP)
            wait_for(lambda: [given for given in signs.given() if given.part == "waits"])
            assert worker.poll() is None
    assert not waits.exists()
    assert log.read_text().count("waits before it begins") == 1


def _ask(address: str, path: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(f"{address}{path}", timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


@pytest.mark.django_db
def test_a_web_process_answers_with_what_is_to_be_done_until_the_tables_are_those_of_its_code(tmp_path: Path) -> None:
    with versions.migrated("fathom_of_a_web") as database:
        database.take_back(versions.STEP)
        waits = tmp_path / "waits"
        web = live.LiveServer(tmp_path / "log", DATABASE_URL=database.url, **{holding.FILE: str(waits)})
        web.start()
        try:
            ask = functools.partial(_ask, web.url)
            status, health = ask("/health/")
            assert (status, health["status"]) == (503, "away")
            assert {health["parts"][name]["what"] for name in ("database", "migrations")} == {ONE}
            # Who supervises it lets it live: to start it anew would not help.
            assert ask("/health/live/")[0] == 200
            status, page = ask("/api/v1/campaigns/")
            assert (status, page["detail"]) == (503, ONE)
            assert live.Client(web.port, secrets.issue("agent").text).call("poll", {})[0] == 503
            assert waits.read_text() == ONE
            database.apply(versions.STEP)
            wait_for(lambda: ask("/health/")[1]["status"] != "away")
            assert not waits.exists()
        finally:
            web.stop()
    log = (tmp_path / "log").read_text()
    assert len(re.findall(rf"The database does not work: {ONE}", log)) == 1
    assert "UndefinedTable" not in log


def test_a_process_that_waits_ends_once_its_code_was_replaced_by_that_of_the_tables(
    pulled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    holding.judge(versions.all_steps())
    assert not ended
    holding._state = holding._State()
    holding.judge(versions.all_steps() | {versions.LATER})
    assert ended == [holding.REPLACED]
    assert clock.past(migrated.TableCheck().since.at())
