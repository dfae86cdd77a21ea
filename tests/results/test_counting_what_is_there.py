"""The migration that counts what was stored before: right for every kind of figure, and undone without a trace."""

import importlib
from types import SimpleNamespace

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone

from apps.archive.models import SearchEntry
from apps.campaigns.models import Trial
from apps.results.models import Result, Sample
from tests import rewriting
from tests.campaigns import factories as make
from tests.results import readers
from tests.results.readers import KINDS, POINTS

migration = importlib.import_module("apps.results.migrations.0015_samples_count")


def states() -> dict[int, bool]:
    return dict(Sample.objects.values_list("pk", "counts"))


@pytest.fixture
def stored(cast: SimpleNamespace, client: Client) -> dict[int, bool]:
    """Return which samples of a campaign of every kind count, by the triggers."""
    [a] = make.nodes(cast.team, "kisti01")
    [b] = make.nodes(cast.team, "pnu01", site="Busan")
    make.link(a, b, "WAN")
    readers.build(cast, [a, b], client)
    return states()


def test_what_was_stored_before_counts_as_what_is_stored_now(stored: dict[int, bool]) -> None:
    assert set(stored.values()) == {True, False}
    rewriting.update(Sample.objects.all(), counts=True)
    assert set(states().values()) == {True}
    with rewriting.allowed(), connection.cursor() as cursor:
        cursor.execute(migration.COUNT)
        # Only what does not count is written: of many samples most are left as they are.
        assert cursor.rowcount == list(stored.values()).count(False) < 2 * POINTS * len(KINDS)
    assert states() == stored


def test_it_is_taken_back_and_done_again(stored: dict[int, bool]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(migration.FORGET)
        cursor.execute("SELECT count(*) FROM pg_proc WHERE proname LIKE 'results\\_count%'")
        assert cursor.fetchone() == (0,)
        cursor.execute(migration.DEFINE)
    rewriting.update(Result.objects.all(), flags=[])
    assert list(states().values()).count(True) > list(stored.values()).count(True)


def test_a_filled_database_of_the_state_before_is_upgraded(stored: dict[int, bool]) -> None:
    """All later migrations are taken back and done again, with the figures where they are."""

    def migrate(*targets: tuple[str, str]) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        MigrationExecutor(connection).migrate(list(targets))

    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    migrate(("results", "0014_former_names"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM results_sample LIMIT 0")
        assert "counts" not in [column.name for column in cursor.description]
        cursor.execute("SELECT count(*) FROM results_sample")
        assert cursor.fetchone() == (len(stored),)
    migrate(*newest)
    assert states() == stored
    # What is stored from now on follows as well, and every search entry is made anew.
    trial = Sample.objects.filter(counts=True).first().trial
    Trial.objects.filter(pk=trial.pk).update(invalid_at=timezone.now())
    assert not Sample.objects.filter(trial=trial, counts=True).exists()
    assert not SearchEntry.objects.filter(of__year__gt=1970).exists()
