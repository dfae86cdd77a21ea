"""A database whose disk is full reads on and writes nothing: health and waits say so, until there is room again."""

import json
import logging
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django.test import Client

from apps.campaigns.models import Campaign
from apps.core import backends, broker, signs, writing
from apps.testbeds.models import Node
from tests import factories
from tests.campaigns import factories as make
from tests.workers import factories as workers

pytestmark = pytest.mark.django_db(transaction=True)
SAID = "Its disk is full: nothing is written since "
# So much of a disk (MiB) that nothing else of the tests uses.
SIZE_MIB = 8


def forget() -> None:
    """Have this process, and the broker, know nothing."""
    writing._known = writing._LastState()
    broker.client(timeout_s=1).delete(signs._FULL, signs._REFUSED)


@pytest.fixture(autouse=True)
def known_to_nobody() -> Iterator[None]:
    forget()
    yield
    forget()


def raise_full() -> None:
    """Have PostgreSQL say that its disk is full."""
    with connection.cursor() as cursor:
        cursor.execute("DO $$ BEGIN RAISE 'could not extend file' USING ERRCODE = '53100'; END $$")


def raise_full_at_commit() -> None:
    """Have a COMMIT say so."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION pg_temp.full() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE 'no room' USING ERRCODE = '53100'; END $$"
        )
        cursor.execute("CREATE TEMP TABLE late (n int)")
        cursor.execute(
            "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION pg_temp.full()"
        )
        cursor.execute("INSERT INTO late VALUES (1)")


def part() -> dict[str, Any]:
    """Return what /health/ says of the database."""
    answer = Client().get("/health/")
    assert answer.status_code == 200
    body = answer.json()
    assert body["parts"]["database"]["ok"] or body["status"] == "degraded"
    return dict(body["parts"]["database"])


def when(check: Any, seconds: float = 20) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.parametrize("meet", [raise_full, raise_full_at_commit])
def test_whoever_meets_it_tells_all_processes(meet: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert part()["ok"]
    with caplog.at_level(logging.WARNING, "apps.core.writing"), pytest.raises(OperationalError):
        meet()
    assert [record.message.partition(":")[0] for record in caplog.records] == ["The database's disk is full"]
    # Another process, which met nothing.
    writing._known = writing._LastState()
    said = part()
    assert not said["ok"]
    assert said["what"].startswith(SAID)
    assert said["since"]
    # A look finds room, and nothing was refused for a while.
    when(lambda: part()["ok"])
    assert signs.full_since() == (None, False)


def test_other_errors_say_nothing_of_it() -> None:
    for code in ("53200", "53300", "22012", "40001", "25006"):
        with pytest.raises(Exception, match="nothing"), connection.cursor() as cursor:
            cursor.execute(f"DO $$ BEGIN RAISE 'nothing' USING ERRCODE = '{code}'; END $$")
    assert signs.full_since() == (None, False)


def test_its_time_is_that_of_the_first_refusal_and_it_does_not_outlive_the_last() -> None:
    with pytest.raises(OperationalError):
        raise_full()
    first = signs.full_since()[0]
    time.sleep(writing._NOTE_EVERY_S + 0.1)
    with pytest.raises(OperationalError):
        raise_full()
    assert signs.full_since() == (first, True)
    assert 0 < broker.client(timeout_s=1).ttl(signs._FULL) <= signs._FULL_FOR_S


def test_campaigns_and_trials_say_that_they_wait_for_it(cast: SimpleNamespace, pair: list[Node]) -> None:
    workers.enrol(*pair)
    campaign = make.launched(cast, *pair)
    assert waiting(cast, campaign)["reason"] == "due"
    with pytest.raises(OperationalError):
        raise_full()
    writing._known = writing._LastState()
    found = waiting(cast, campaign)
    assert found["reason"] == "database"
    assert found["text"].startswith("waiting for the database, whose disk is full since ")
    assert found["trials"] == campaign.trials.count()
    trials = Client().get(f"/api/v1/trials/?campaign={campaign.pk}", **factories.bearer(cast.bob)).json()["results"]
    assert {trial["waiting"]["reason"] for trial in trials} == {"database"}
    when(lambda: waiting(cast, campaign)["reason"] == "due")


def waiting(cast: SimpleNamespace, campaign: Campaign) -> Any:
    """Return what a campaign waits for, over REST."""
    return Client().get(f"/api/v1/campaigns/{campaign.pk}/", **factories.bearer(cast.bob)).json()["waiting"]


@contextmanager
def small_disk(folder: Path) -> Iterator[str]:
    """Give PostgreSQL a disk of SIZE_MIB of its own, for tables that name it and what does not fit into memory."""
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m,mode=700", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    name = connection.settings_dict["NAME"]
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('data_directory')")
            owner = Path(cursor.fetchone()[0]).stat()
            os.chown(folder, owner.st_uid, owner.st_gid)
            cursor.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
            try:
                cursor.execute(f'ALTER DATABASE "{name}" SET temp_tablespaces = small')
                yield "small"
            finally:
                cursor.execute(f'ALTER DATABASE "{name}" RESET temp_tablespaces')
                cursor.execute("DROP TABLE IF EXISTS growing")
                cursor.execute("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def disk() -> Iterator[str]:
    # PostgreSQL's user gets through no folder of pytest's.
    base = Path("/var/tmp" if os.access("/var/tmp", os.W_OK) else "/tmp") / f"fathom-small-{os.getpid()}"
    try:
        with small_disk(base) as space:
            yield space
    finally:
        base.rmdir()


def grow(space: str) -> None:
    """Write into a table on that disk until it takes no more."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE growing (what text) TABLESPACE {space}")
        while True:
            cursor.execute("INSERT INTO growing SELECT repeat(md5(n::text), 30) FROM generate_series(1, 100) n")


def test_a_disk_that_is_really_full(disk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Beside other tests the database may be slow, which /health/ says as well.
    monkeypatch.setattr(backends, "_SLOW_S", 60.0)
    assert backends.has_room()
    assert part()["ok"]
    with pytest.raises(OperationalError) as refusal:
        grow(disk)
    assert isinstance(refusal.value.__cause__, psycopg.errors.DiskFull)
    assert signs.full_since()[1]
    assert not backends.has_room()
    # However long nobody else writes: each look tries.
    broker.client(timeout_s=1).delete(signs._REFUSED)
    for _look in range(3):
        writing._known = writing._LastState()
        assert not part()["ok"]
    # Nobody has met it yet: a look finds it.
    forget()
    assert part()["what"].startswith(SAID)
    assert json.dumps(part()).count("small") == 0
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE growing")
    when(lambda: part()["ok"])
