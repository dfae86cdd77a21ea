"""No team keeps another waiting: of all kinds of long work the next piece is of whoever had least lately."""

import itertools
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import Team, User
from apps.archive.imports import work as imports
from apps.archive.incoming import services as incoming
from apps.archive.models import Import, IncomingArchive
from apps.campaigns.models import Campaign
from apps.campaigns.services import deletion
from apps.core import queue, turns
from apps.core.models import WorkerTime
from apps.reports import services as reports
from apps.reports.files import services as rendering
from apps.reports.models import Delivery, Rendering, Report, Schedule
from apps.reports.schedules import deliveries
from launch.home import ROOT
from tests import factories, leasing
from tests.reports import documents
from tests.rotation import part_of
from workers import bulky, tasks

pytestmark = pytest.mark.django_db
MANY = 6
PAST = timedelta(hours=2)


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Any) -> None:
    settings.VAR_DIR = tmp_path


def an_import(team: Team, user: User, since: datetime) -> Import:
    made = Import.objects.create(team=team, created_by=user, name="a", kind="outputs", uploads=[])
    Import.objects.filter(pk=made.pk).update(updated_at=since)
    return made


def an_archive(team: Team, user: User, since: datetime) -> IncomingArchive:
    made = IncomingArchive.objects.create(team=team, created_by=user, name="a.zip", size=4)
    IncomingArchive.objects.filter(pk=made.pk).update(updated_at=since)
    return made


def a_file(team: Team, user: User, since: datetime) -> Rendering:
    report = Report.objects.create(team=team, language="en", title="Windows")
    edition = reports.keep_edition(report=report, document=documents.document(), user=user, now=since)
    wanted = {"report": report, "edition": edition, "format": "json", "requested_by": user}
    return Rendering.objects.create(**wanted, requested_at=since)


def a_delivery(team: Team, user: User, since: datetime) -> Delivery:
    report = Report.objects.create(team=team, language="en", title="Windows", kind=Report.Kind.MANAGEMENT)
    named = {"team": team, "name": f"S {since}", "report": report, "language": "en", "saved_by": user}
    schedule = Schedule.objects.create(**named, cron="0 7 * * *", next_at=timezone.now() + PAST)
    return Delivery.objects.create(schedule=schedule, due_at=since, look_at=since)


def a_deletion(team: Team, user: User, since: datetime) -> Campaign:
    return Campaign.objects.create(team=team, created_by=user, name=f"C {since}", state="finished", deleting_at=since)


KINDS: dict[str, tuple[Callable[..., Any], Callable[[], bool], Callable[[Any], bool]]] = {
    "import": (
        an_import,
        lambda: imports.carry_out_next(now=timezone.now()),
        lambda row: Import.objects.get(pk=row.pk).state != "waiting",
    ),
    "archive": (
        an_archive,
        lambda: incoming.carry_out_next(now=timezone.now()),
        lambda row: IncomingArchive.objects.get(pk=row.pk).state != "waiting",
    ),
    "file": (
        a_file,
        lambda: rendering.carry_out_next(now=timezone.now()),
        lambda row: Rendering.objects.get(pk=row.pk).state != "waiting",
    ),
    "delivery": (
        a_delivery,
        lambda: deliveries.carry_out_next(now=timezone.now()),
        lambda row: Delivery.objects.get(pk=row.pk).state != "waiting",
    ),
    "deletion": (
        a_deletion,
        deletion.continue_deletions,
        lambda row: not Campaign.objects.filter(pk=row.pk).exists(),
    ),
}


BULKY = {"import", "archive", "deletion"}


def test_every_kind_of_work_of_which_a_worker_has_much_is_here() -> None:
    of_rows = set(queue.LONG_TASKS) - {queue.RETAIN, queue.COUNT_STORED, queue.ASK_RECIPIENTS}
    assert of_rows == {queue.RENDER, queue.DELIVER, queue.BULKY}
    assert KINDS.keys() == {"file", "delivery"} | BULKY


@pytest.mark.parametrize("kind", KINDS)
def test_one_piece_of_a_team_does_not_wait_behind_the_many_of_another(kind: str, cast: SimpleNamespace) -> None:
    make, carry_out_next, has_begun = KINDS[kind]
    begin = timezone.now() - PAST
    many = [make(cast.other_team, cast.charlie, begin + timedelta(minutes=place)) for place in range(MANY)]
    one = make(cast.team, cast.oscar, begin + timedelta(hours=1))
    # Whoever has waited longest goes first among those who had nothing.
    assert carry_out_next()
    assert [has_begun(row) for row in (*many, one)] == [True] + [False] * MANY
    assert carry_out_next()
    assert has_begun(one)
    assert [has_begun(row) for row in many].count(True) == 1
    while carry_out_next():
        pass
    assert all(has_begun(row) for row in many)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_team_had_of_one_kind_counts_for_the_others(kind: str, cast: SimpleNamespace) -> None:
    make, carry_out_next, has_begun = KINDS[kind]
    now = timezone.now()
    first = make(cast.other_team, cast.charlie, now - PAST)
    second = make(cast.team, cast.oscar, now - timedelta(minutes=1))
    turns.count([f"team {cast.other_team.pk}"], 40.0)
    assert carry_out_next()
    assert (has_begun(first), has_begun(second)) == (False, True)


def all_imports(do: Callable[[int], bool]) -> turns.Pieces:
    return turns.Pieces(Import.objects.all(), turns.TurnFields("team", "created_by", "updated_at"), do)


def take_next(do: Callable[[int], bool]) -> bool:
    return turns.take_next(all_imports(do), now=timezone.now())


@pytest.mark.parametrize(("of_many", "of_one"), part_of(itertools.product(sorted(BULKY), repeat=2)))
def test_many_pieces_of_one_kind_keep_no_other_kind_waiting(of_many: str, of_one: str, cast: SimpleNamespace) -> None:
    begin = timezone.now() - PAST
    for place in range(MANY):
        KINDS[of_many][0](cast.other_team, cast.charlie, begin + timedelta(minutes=place))
    make, _carry_out_next, has_begun = KINDS[of_one]
    one = make(cast.team, cast.oscar, begin + timedelta(hours=1))
    assert bulky.take_next(now=timezone.now())
    assert not has_begun(one)
    assert bulky.take_next(now=timezone.now())
    assert has_begun(one)


@pytest.mark.parametrize("of_one", sorted(set(BULKY) - {"archive"}))
def test_an_archive_that_is_being_stored_keeps_nothing_else_waiting(of_one: str, cast: SimpleNamespace) -> None:
    for place in range(2 * turns.MOST_TRIED):
        an_archive(cast.other_team, cast.charlie, timezone.now() - PAST + timedelta(minutes=place))
    make, _carry_out_next, has_begun = KINDS[of_one]
    one = make(cast.team, cast.oscar, timezone.now())
    # They had more of the workers' time: by order alone all these archives come first.
    turns.count([f"team {cast.team.pk}"], 40.0)
    with leasing.elsewhere(bulky.ARCHIVES):
        assert bulky.take_next(now=timezone.now())
    assert has_begun(one)


def test_a_piece_that_does_not_end_in_its_time_is_ended_with_its_process() -> None:
    program = (
        "import django; django.setup()\nfrom workers import bulky\nwith bulky._ended_after(1):\n while True: pass"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, timeout=120)
    assert ended.returncode == -signal.SIGALRM


def test_many_teams_of_one_person_are_one(cast: SimpleNamespace) -> None:
    begin = timezone.now() - PAST
    mallory = factories.user("mallory")
    for place in range(MANY):
        an_import(factories.team(f"T{place}", manager=mallory), mallory, begin + timedelta(minutes=place))
    one = an_import(cast.team, cast.oscar, timezone.now())
    assert imports.carry_out_next(now=timezone.now())
    assert imports.carry_out_next(now=timezone.now())
    assert Import.objects.get(pk=one.pk).state != "waiting"
    assert Import.objects.filter(state="waiting").count() == MANY - 1


@pytest.mark.parametrize("seed", part_of(range(5)))
def test_whatever_the_pieces_take_each_team_has_the_same_time(seed: int, cast: SimpleNamespace) -> None:
    chance = random.Random(seed)
    longest = chance.uniform(10, 300)
    teams = {cast.team: cast.oscar, cast.other_team: cast.charlie, factories.team("C", manager=cast.bob): cast.bob}
    of = {}
    for team, user in teams.items():
        for _piece in range(chance.randint(1, 5)):
            of[an_import(team, user, timezone.now() - PAST).pk] = team
    least = {team: chance.uniform(1, longest) for team in teams}
    had = dict.fromkeys(teams, 0.0)

    def do(pk: int) -> bool:
        team = of[pk]
        seconds = chance.uniform(least[team], longest)
        turns.count([f"team {team.pk}", f"person {teams[team].pk}"], seconds)
        had[team] += seconds
        # It comes to the end of its team's line, as what takes more turns does.
        Import.objects.filter(pk=pk).update(updated_at=timezone.now())
        return True

    for _turn in range(40):
        assert take_next(do)
        # Whoever is ahead is so by the one piece that was taken last; a look counts for a second at most.
        assert max(had.values()) - min(had.values()) <= longest + turns.LEAST_S + 1


def test_what_lies_back_counts_less_and_is_forgotten(cast: SimpleNamespace) -> None:
    now = timezone.now()
    turns.count(["team 1", "person 1"], 100.0)
    row = WorkerTime.objects.get(owner="team 1")
    assert row.lately_s(row.at + timedelta(hours=1)) == pytest.approx(50.0)
    # A clock that was ahead makes nothing more of it.
    assert row.lately_s(row.at - timedelta(days=1)) == 100.0
    WorkerTime.objects.filter(owner="team 1").update(at=now - 2 * turns.FORGOTTEN_AFTER)
    turns.count(["team 2"], 1.0)
    assert set(WorkerTime.objects.values_list("owner", flat=True)) == {"person 1", "team 2"}


def test_a_piece_with_which_the_worker_is_lost_counts_too(cast: SimpleNamespace) -> None:
    class Lost(BaseException):
        """A worker that was killed: nothing of it is caught, and nothing written after."""

    first = an_import(cast.other_team, cast.charlie, timezone.now() - PAST)
    second = an_import(cast.team, cast.oscar, timezone.now())

    def kill(_pk: int) -> bool:
        assert WorkerTime.objects.get(owner=f"team {cast.other_team.pk}").spent_s == turns.LEAST_S
        raise Lost

    with pytest.raises(Lost):
        take_next(kill)
    WorkerTime.objects.update(spent_s=turns.LEAST_S)
    order = [piece.pk for piece in turns.in_turn(all_imports(kill), now=timezone.now())]
    assert order == [second.pk, first.pk]


def test_a_piece_that_others_have_is_passed_over(cast: SimpleNamespace) -> None:
    made = [an_import(cast.team, cast.oscar, timezone.now() - PAST) for _row in range(3)]
    tried: list[int] = []

    def do(pk: int) -> bool:
        tried.append(pk)
        return pk == made[1].pk

    assert take_next(do)
    assert tried == [made[0].pk, made[1].pk]
    assert not take_next(lambda _pk: False)


def test_a_task_comes_back_as_long_as_there_was_something(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(queue, "_publish", lambda task, _args: sent.append(task))
    begin = timezone.now() - PAST
    for make in (an_import, an_archive, a_deletion):
        make(cast.team, cast.oscar, begin)
    # What waits is begun with, and left by whoever comes upon it while a piece is in hand on this machine.
    with (
        leasing.elsewhere(bulky.SHORT),
        leasing.elsewhere(bulky.ARCHIVES),
        django_capture_on_commit_callbacks(execute=True),
    ):
        tasks.take_bulky()
    assert sent == []
    for has_something in (True, True, True, False):
        with django_capture_on_commit_callbacks(execute=True):
            tasks.take_bulky()
        assert sent == [queue.BULKY] * has_something
        sent.clear()
