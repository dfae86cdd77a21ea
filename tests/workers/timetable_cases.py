"""For each part of the timetable two rows that are due, of two teams, the first of which can be poisoned."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.utils import timezone

from apps.accounts.models import Invitation, Team, TeamUsage, User
from apps.agents.models import Job, Listener
from apps.archive.models import Import, IncomingArchive, RetentionRule, SearchEntry
from apps.campaigns import services
from apps.campaigns.models import Campaign, Reservation, Run, Trial
from apps.core.models import LastChange, SetAside
from apps.reports import services as reports
from apps.reports.models import Delivery, Rendering, Report, Schedule
from apps.tuning.models import Analysis
from tests import rewriting
from tests.campaigns import factories as make
from tests.factories import Cast
from tests.reports import documents
from tests.workers import factories as workers
from workers import carry_out

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Case:
    """What is poisoned, as which work and row it is set aside, and whether the first and the second row are done."""

    model: Any
    poisoned: object
    work: str
    row: int
    is_done: tuple[Callable[[], bool], Callable[[], bool]]
    insert_column: str = ""
    # Carried out with the cure: what else would wait for its time.
    hasten: Callable[[], object] = lambda: None


def people(cast: Cast) -> list[tuple[Team, User]]:
    """Return the teams in the order in which their rows are made, each with who acts for it."""
    return [(cast.team, cast.oscar), (cast.other_team, cast.charlie)]


def launched(cast: Cast, *, repetitions: int = 1, launch: bool = True, **values: Any) -> list[Campaign]:
    """Return a campaign of each team, between two nodes of its own with agents."""
    campaigns = []
    for number, (team, user) in enumerate(people(cast)):
        nodes = make.nodes(team, f"a{number}", f"b{number}")
        workers.enrol(*nodes)
        draft = make.campaign(cast, team=team, user=user, **values)
        make.experiment(draft, *nodes, factors=[], repetitions=repetitions)
        if launch:
            services.launch_campaign(campaign=draft, user=user, now=timezone.now() - DAY)
        campaigns.append(draft)
    return campaigns


def _is(model: Any, pk: object, **values: Any) -> Callable[[], bool]:
    return lambda: model.objects.filter(pk=pk, **values).exists()


def _case(work: str, rows: list[Any], **done: Any) -> Case:
    model = type(rows[0])
    first, second = (_is(model, row.pk, **done) for row in rows)
    return Case(model, rows[0].pk, work, rows[0].pk, (first, second))


def _gone_case(work: str, rows: list[Any]) -> Case:
    case = _case(work, rows)
    first, second = case.is_done
    return replace(case, is_done=(lambda: not first(), lambda: not second()))


def launch_due(cast: Cast) -> Case:
    """Two scheduled campaigns whose date has come."""
    made = launched(cast, start_at=timezone.now() + DAY)
    Campaign.objects.update(next_at=timezone.now() - DAY)
    return _case("launch_due", made, state="running")


def correct_dates(cast: Cast) -> Case:
    """Two series whose next date a clock chose that was ahead."""
    made = launched(cast, cron="0 7 * * *")
    Campaign.objects.update(next_at=timezone.now() + 99 * DAY)
    return _case("correct_dates", made, next_at__lt=timezone.now() + 2 * DAY)


def mark_lost_jobs(cast: Cast) -> Case:
    """Two runs whose agents fell silent."""
    launched(cast)
    carry_out.schedule()
    now = timezone.now()
    Listener.objects.create(pk=1, listening_since=now - DAY, heard_until=now)
    first, second = (Run.objects.order_by("pk")[place] for place in range(2))
    jobs = [Job.objects.get(run_ref=run.pk) for run in (first, second)]
    for job in jobs:
        job.node.agent.last_seen_at = now - DAY
        job.node.agent.save()
    return replace(_case("mark_lost_jobs", jobs, state="lost"), row=jobs[0].node_id)


def reconcile(cast: Cast) -> Case:
    """Two runs that were claimed by a worker that is gone."""
    launched(cast)
    runs = make.take(now=timezone.now())
    Run.objects.update(updated_at=timezone.now() - DAY)
    return _case("take_on_runs", sorted(runs, key=lambda run: run.pk), state="running")


def open_stages(cast: Cast) -> Case:
    """Two experiments whose turn has come."""
    later = []
    for number, (team, user) in enumerate(people(cast)):
        nodes = make.nodes(team, f"a{number}", f"b{number}")
        draft = make.campaign(cast, team=team, user=user)
        earlier = make.experiment(draft, *nodes, name="First", factors=[], repetitions=1)
        later.append(make.experiment(draft, *nodes, name="Second", factors=[], repetitions=1, after=earlier))
        services.launch_campaign(campaign=draft, user=user, now=timezone.now())
    Trial.objects.update(state="succeeded")
    return _case("open_stages", later, expanded_at__isnull=False)


def lift_fences(cast: Cast) -> Case:
    """Two runs of which something is kept back, and nothing can run any more."""
    launched(cast)
    runs = sorted(make.take(now=timezone.now()), key=lambda run: run.pk)
    Reservation.objects.update(fenced_until=timezone.now() - DAY)
    held = [Reservation.objects.filter(run=run).order_by("pk") for run in runs]
    case = _case("lift_fences", [rows[0] for rows in held], released_at__isnull=False)
    return replace(case, row=runs[0].pk)


def count_stored(cast: Cast) -> Case:
    """Two teams whose bytes were counted long ago."""
    past = timezone.now() - DAY
    made = [TeamUsage.objects.create(team=team, counted_at=past) for team, _user in people(cast)]
    return replace(_case("count_stored", made, counted_at__gt=past), row=made[0].team_id)


def finish_campaigns(cast: Cast) -> Case:
    """Two campaigns with nothing left to do."""
    made = launched(cast)
    Trial.objects.update(state="succeeded")
    return _case("finish_campaigns", made, state="finished")


def schedule(cast: Cast) -> Case:
    """Two trials that can start."""
    launched(cast)
    return _case("schedule", list(Trial.objects.order_by("pk")), state="running")


def ask_for_analyses(cast: Cast) -> Case:
    """Two campaigns that have ended."""
    made = launched(cast)
    Trial.objects.update(state="succeeded")
    Campaign.objects.update(state="finished", finished_at=timezone.now())
    case = _case("analyse", made, analysed_at__isnull=False)
    # An analysis that failed waits for its own time, too.
    return replace(case, hasten=lambda: Analysis.objects.update(began_at=timezone.now() - DAY, next_at=None))


def resume_cancelling(cast: Cast) -> Case:
    """Two cancelled campaigns whose trials nobody marked, however long ago."""
    made = launched(cast)
    Campaign.objects.update(state="cancelled", finished_at=timezone.now() - 30 * DAY, analysed_at=timezone.now())
    Campaign.objects.update(updated_at=timezone.now() - DAY)
    case = _case("cancel_leftovers", list(Trial.objects.order_by("pk")), state="cancelled")
    return replace(case, row=made[0].pk)


def resume_deletions(cast: Cast) -> Case:
    """Two campaigns that are to be deleted."""
    made, past = launched(cast), timezone.now() - DAY
    Campaign.objects.update(state="finished", deleting_at=past, updated_at=past)
    return _gone_case("continue_deletions", made)


def resume_renderings(cast: Cast) -> Case:
    """Two files that nobody makes."""
    made = []
    for team, user in people(cast):
        report = Report.objects.create(team=team, language="en", title="Windows")
        edition = reports.keep_edition(report=report, document=documents.document(), user=user, now=timezone.now())
        wanted = {"report": report, "edition": edition, "format": "json", "requested_by": user}
        made.append(Rendering.objects.create(**wanted, requested_at=timezone.now()))
    return _case("render", made, state="done")


def _schedules(cast: Cast) -> list[Schedule]:
    made = []
    for team, user in people(cast):
        report = Report.objects.create(team=team, language="en", title="Windows", kind=Report.Kind.MANAGEMENT)
        dates = {"cron": "0 7 * * *", "next_at": timezone.now() - DAY}
        named = {"team": team, "name": "Daily", "report": report, "language": "en", "saved_by": user}
        made.append(Schedule.objects.create(**named, **dates))
    return made


def start_due(cast: Cast) -> Case:
    """Two schedules whose date has come."""
    return _case("start_due", _schedules(cast), next_at__gt=timezone.now())


def resume_deliveries(cast: Cast) -> Case:
    """Two deliveries that nobody is at."""
    past = timezone.now() - DAY
    made = [Delivery.objects.create(schedule=row, due_at=past, look_at=past) for row in _schedules(cast)]
    Schedule.objects.update(next_at=timezone.now() + DAY)
    return _case("deliver", made, state__in=("rendering", "done"))


def _imports(cast: Cast, **values: Any) -> list[Import]:
    return [
        Import.objects.create(team=team, created_by=user, name="a", kind="outputs", **values)
        for team, user in people(cast)
    ]


def resume_imports(cast: Cast) -> Case:
    """Two imports that nobody is at, of files that are gone."""
    return _case("advance_import", _imports(cast, uploads=[{"name": "a", "size": 1, "sha256": "0"}]), state="refused")


def _archives(cast: Cast, **values: Any) -> list[IncomingArchive]:
    return [
        IncomingArchive.objects.create(team=team, created_by=user, name="a.zip", size=4, **values)
        for team, user in people(cast)
    ]


def resume_archives(cast: Cast) -> Case:
    """Two archives that nobody is at, of files that are gone."""
    return _case("take_archives", _archives(cast), state="refused")


def _rules(cast: Cast, **values: Any) -> list[RetentionRule]:
    launched(cast)
    for run in make.take(now=timezone.now()):
        services.succeed_run(run=run, now=timezone.now())
    rewriting.update(Run.objects.all(), **dict.fromkeys(("created_at", "ended_at"), timezone.now() - 100 * DAY))
    return [
        RetentionRule.objects.create(team=team, kind="series", days=90, changed_by=user, **values)
        for team, user in people(cast)
    ]


def resume_retention(cast: Cast) -> Case:
    """Two rules with which a worker that is gone has begun."""
    return _case("carry_out_rules", _rules(cast, begun_at=timezone.now()), runs_done=1, begun_at=None)


def expire_imports(cast: Cast) -> Case:
    """Two imports that nobody decided on."""
    made = _imports(cast, state="ready")
    Import.objects.update(updated_at=timezone.now() - 100 * DAY)
    return _case("expire_imports", made, state="expired")


def expire_archives(cast: Cast) -> Case:
    """Two archives that nobody decided on."""
    made = _archives(cast, state="ready", preview={"campaign": "x"})
    IncomingArchive.objects.update(updated_at=timezone.now() - 100 * DAY)
    return _case("expire_archives", made, state="expired")


def forget_rows_set_aside(cast: Cast) -> Case:
    """Two rows that have not come up again for long."""
    times = dict.fromkeys(("first_at", "last_at", "retry_at"), timezone.now() - 100 * DAY)
    rows = [SetAside.objects.create(work="some", row_id=row, attempts=1, **times) for row in (1, 2)]
    return _gone_case("forget_rows_set_aside", rows)


def forget_changes(cast: Cast) -> Case:
    """Two things that somebody changed long ago."""
    noted = {"kind": "testbeds.site", "username": "oscar", "at": timezone.now() - 100 * DAY}
    return _gone_case("forget_changes", [LastChange.objects.create(row_id=row, **noted) for row in (1, 2)])


def forget_invitations(cast: Cast) -> Case:
    """Two invitations that nobody answered for long."""
    made = [Invitation.objects.create(team=team, username="dana") for team, _user in people(cast)]
    Invitation.objects.update(created_at=timezone.now() - 100 * DAY)
    return _gone_case("forget_invitations", made)


def carry_out_rules(cast: Cast) -> Case:
    """Two rules of retention, each with a run that is due."""
    return _case("carry_out_rules", _rules(cast), runs_done=1)


def index_due(cast: Cast) -> Case:
    """Two experiments that are not in the archive yet."""
    pks = [campaign.experiments.get().pk for campaign in launched(cast)]
    done = _is(SearchEntry, pks[0]), _is(SearchEntry, pks[1])
    return Case(SearchEntry, pks[0], "index_due", pks[0], done, insert_column="experiment_id")
