"""A backup is put in the place of what is there whole, or not at all; what does not fit is refused in words."""

import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from launch import __main__ as command
from launch import backup, database, embedded, home, restore
from launch.home import ROOT, Home
from launch.whole_files import write_whole
from tests.launch import migrated as patterns
from tests.launch.stack import NOT_INHERITED
from tests.launch.watching import wait_for

# How many of each kind a table's guards are, by which a restored database is the same.
SHAPE = """
    SELECT 'constraint', count(*) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT 'index', count(*) FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT 'trigger', count(*) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1
"""


@pytest.fixture(autouse=True)
def _no_database_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NOT_INHERITED:
        monkeypatch.delenv(name, raising=False)


@contextmanager
def served(var: Path) -> Iterator[str]:
    """Give the address of a folder's database, started as a service has it, and hold the folder."""
    own = Home(var)
    own.lock()
    try:
        with database.reached(own) as address:
            own.write_state({"pid": 1, "address": "http://127.0.0.1:1", "database_url": address})
            yield address
    finally:
        own.unlock()


def manage(address: str, *arguments: str) -> None:
    secret = {"SECRET_KEY": "for the commands of one test, and no other, as long as it has to be"}
    env = {
        **os.environ,
        **secret,
        "DJANGO_SETTINGS_MODULE": "apps.config.settings.production",
        "DATABASE_URL": address,
    }
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=env, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def accounts(address: str) -> set[str]:
    with psycopg.connect(address) as connection:
        return {name for (name,) in connection.execute("SELECT username FROM accounts_user")}


def shape(address: str) -> list[tuple[str, int]]:
    with psycopg.connect(address) as connection:
        return connection.execute(SHAPE).fetchall()


def databases(address: str) -> set[str]:
    with psycopg.connect(address) as connection:
        return {name for (name,) in connection.execute("SELECT datname FROM pg_database WHERE NOT datistemplate")}


@pytest.fixture(scope="module")
def kept(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `var`, whose service has an account and a waiting import, and `now.backup` of it.

    `earlier.backup` is of the version before the last step of core, `later.backup` of a later one.
    """
    folder = tmp_path_factory.mktemp("kept")
    patterns.copy_to(folder / "var", migrated / patterns.VAR)
    own = Home(folder / "var")
    with pytest.MonkeyPatch.context() as patch:
        for name in NOT_INHERITED:
            patch.delenv(name, raising=False)
        with served(folder / "var") as address:
            own.secret_key()
            manage(address, "create_account", "--username", "alice", "--team", "Kept")
            (own.folder / "imports" / "7").mkdir(parents=True)
            write_whole(own.folder / "imports" / "7" / "figures.csv", "a,b\n1,2\n")
            backup.make(Home(folder / "var"), folder / "now.backup")
            with psycopg.connect(address) as connection:
                connection.execute("INSERT INTO django_migrations VALUES (99999, 'campaigns', '0999_later', now())")
            backup.make(Home(folder / "var"), folder / "later.backup")
            with psycopg.connect(address) as connection:
                connection.execute("DELETE FROM django_migrations WHERE id = 99999")
            manage(address, "migrate", "core", "0001", "--verbosity", "0")
            backup.make(Home(folder / "var"), folder / "earlier.backup")
            manage(address, "migrate", "--verbosity", "0")
            with psycopg.connect(address) as connection:
                connection.execute("UPDATE accounts_user SET username = 'bob'")
    return folder


@pytest.fixture
def var(kept: Path, tmp_path: Path) -> Path:
    """Return a folder of this version, whose one account was renamed to bob since its backups were made."""
    patterns.copy_to(tmp_path / "var", kept / "var")
    return tmp_path / "var"


def test_a_backup_comes_back_on_a_machine_that_had_nothing(kept: Path, tmp_path: Path) -> None:
    new = Home(tmp_path / "new")
    restore.restore(new, kept / "now.backup")
    with served(new.folder) as address, served(kept / "var") as origin:
        assert accounts(address) == {"alice"}
        assert shape(address) == shape(origin)
        assert databases(address) == {"fathom", "postgres"}
    assert new.secret_key() == Home(kept / "var").secret_key()
    assert (new.folder / "imports" / "7" / "figures.csv").read_text() == "a,b\n1,2\n"
    # The next start makes no other account, whose password nobody asked for.
    assert new.has_account()
    assert not new.restored.exists()
    assert {path.stat().st_mode & 0o777 for path in kept.glob("*.backup")} == {0o600}


def test_a_backup_of_an_earlier_version_is_brought_up_to_this_one(kept: Path, var: Path) -> None:
    (var / "imports" / "7" / "since.csv").write_text("what the backup does not have")
    restore.restore(Home(var), kept / "earlier.backup")
    with served(var) as address, served(kept / "var") as origin:
        assert accounts(address) == {"alice"}
        assert shape(address) == shape(origin)
    assert [path.name for path in (var / "imports" / "7").iterdir()] == ["figures.csv"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_restore_that_is_cut_off_leaves_what_was_there(kept: Path, var: Path, how: signal.Signals) -> None:
    env = {**os.environ, "FATHOM_VAR": str(var), "FILE": str(kept / "now.backup")}
    with subprocess.Popen(
        [sys.executable, "-m", "launch", "restore"], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True
    ) as cut:
        url = embedded.postgres(var / "postgres").url

        def has_begun() -> bool:
            assert cut.poll() is None
            try:
                with psycopg.connect(url.replace("/fathom?", "/fathom_restoring?")) as connection:
                    return connection.execute("SELECT to_regclass('accounts_user')").fetchone() != (None,)
            except psycopg.OperationalError:
                return False

        wait_for(has_begun, 60)
        cut.send_signal(how)
        said = cut.communicate(timeout=60)[0]
    if how == signal.SIGTERM:
        assert cut.returncode == 130
        assert "nothing has changed" in said
    with served(var) as address:
        assert accounts(address) == {"bob"}
        manage(address, "migrate_pending")
        if how == signal.SIGTERM:
            assert databases(address) == {"fathom", "postgres"}
    Home(var).require_whole()
    if how == signal.SIGKILL:
        restore.restore(Home(var), kept / "now.backup")
        with served(var) as address:
            assert accounts(address) == {"alice"}
            assert databases(address) == {"fathom", "postgres"}


def _damaged(good: Path, bad: Path) -> None:
    content = bytearray(good.read_bytes())
    content[len(content) // 2] ^= 0xFF
    bad.write_bytes(content)


def test_what_cannot_be_put_in_place_is_refused_and_changes_nothing(kept: Path, var: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    _damaged(kept / "now.backup", bad)
    with pytest.raises(backup.BackupError, match="damaged"):
        restore.restore(Home(var), bad)
    bad.write_bytes((kept / "now.backup").read_bytes()[:-100])
    with pytest.raises(backup.BackupError, match="no whole backup"):
        restore.restore(Home(var), bad)
    with pytest.raises(backup.BackupError, match="cannot be read: No such file"):
        restore.restore(Home(var), tmp_path / "nothing")
    with zipfile.ZipFile(bad, "w") as other:
        other.writestr("anything", "else")
    with pytest.raises(backup.BackupError, match="no whole backup"):
        restore.restore(Home(var), bad)
    with backup.opened(kept / "now.backup") as one:
        bad.write_bytes(one.dump.read()[:-20000])
    with pytest.raises(restore.RestoreError, match="could not be read, nothing has changed"):
        restore.restore(Home(var), bad)
    with pytest.raises(restore.RestoreError, match=r"nothing has changed.*campaigns\.0999_later"):
        restore.restore(Home(var), kept / "later.backup")
    with served(var) as address:
        assert accounts(address) == {"bob"}
        with pytest.raises(home.HomeError, match=r"already runs .* stop it"):
            restore.restore(Home(var), kept / "now.backup")
        assert databases(address) == {"fathom", "postgres"}


def test_a_database_of_ones_own_is_restored_while_nobody_uses_it(
    kept: Path, var: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "_LOOKED_FOR_S", 0.3)
    with served(var) as address:
        own = Home(tmp_path / "other")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE ROLE poor LOGIN; GRANT pg_read_all_data TO poor")
            connection.execute("ALTER DATABASE fathom SET work_mem = '7MB'")
        monkeypatch.setenv("DATABASE_URL", address)
        with psycopg.connect(address, application_name="web"), pytest.raises(restore.RestoreError, match=r"\(web\)"):
            restore.restore(own, kept / "now.backup")
        monkeypatch.setenv("DATABASE_URL", address.replace("fathom@", "poor@"))
        with pytest.raises(database.DatabaseError, match="ALTER ROLE poor CREATEDB"):
            restore.restore(own, kept / "now.backup")
        assert accounts(address) == {"bob"}
        monkeypatch.setenv("DATABASE_URL", address)
        # What pg_dump wrote by hand comes back, too.
        with backup.opened(kept / "now.backup") as one:
            (tmp_path / "by-hand.dump").write_bytes(one.dump.read())
        restore.restore(own, tmp_path / "by-hand.dump")
        assert accounts(address) == {"alice"}
        with psycopg.connect(address) as connection:
            assert connection.execute("SHOW work_mem").fetchone() == ("7MB",)
        backup.make(own, tmp_path / "again.backup")
        assert databases(address) == {"fathom", "postgres"}


def test_whoever_comes_to_the_database_meanwhile_keeps_it(kept: Path, var: Path) -> None:
    with served(var) as address:
        with (
            database.beside(address),
            psycopg.connect(address, application_name="late"),
            pytest.raises(database.DatabaseError, match="late came to the database meanwhile"),
        ):
            database.put_in_place(address)
        assert accounts(address) == {"bob"}
        assert databases(address) == {"fathom", "postgres"}


def test_nothing_starts_between_the_database_and_its_files(tmp_path: Path) -> None:
    own = Home(tmp_path)
    own.require_whole()
    own.restored.mkdir()
    with pytest.raises(home.HomeError, match="make restore"):
        own.require_whole()


def test_the_verbs_say_what_they_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATHOM_VAR", str(tmp_path))
    monkeypatch.delenv("FILE", raising=False)
    assert command.main(["restore"]) == 1
    assert "make restore FILE=" in capsys.readouterr().err
    monkeypatch.setenv("FILE", str(tmp_path / "file"))
    assert command.main(["backup"]) == 1
    assert "There is no database" in capsys.readouterr().err
