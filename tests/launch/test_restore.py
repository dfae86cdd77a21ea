"""A backup is put in the place of what is there whole, or not at all; what does not fit is refused in words."""

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import psycopg
import pytest

from launch import __main__ as command
from launch import backup, database, embedded, home, restore
from launch.home import ROOT, Home
from tests.launch.kept import accounts, databases, manage, served, shape
from tests.launch.watching import wait_for

pytestmark = pytest.mark.usefixtures("no_database_of_the_tests")


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
        if how == signal.SIGTERM:
            assert databases(address) == {"fathom", "postgres"}
        else:
            manage(address, "migrate_pending")
    assert not Home(var).restored.exists()
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
