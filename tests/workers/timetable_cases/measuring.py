"""Cases of what campaigns wait for."""

from dataclasses import replace

from django.utils import timezone

from apps.agents import services as agents
from apps.agents.models import Job, Listener
from apps.campaigns import services
from apps.campaigns.models import Campaign, Event, Reservation, Run, Trial
from apps.campaigns.waits.reasons import TOOL_AWAITED
from apps.toolbox import services as toolbox
from apps.toolbox.models import ToolVersion
from apps.tuning.analysis.queries import asked_with
from apps.tuning.models import Analysis
from tests.bench.custom import definitions
from tests.campaigns import factories as make
from tests.factories import Cast
from tests.workers import factories as workers
from tests.workers.timetable_cases.cases import DAY, Case, case_of, case_of_gone, is_there, launched, people
from workers import carry_out


def launch_due(cast: Cast) -> Case:
    """Two scheduled campaigns whose date has come."""
    made = launched(cast, start_at=timezone.now() + DAY)
    Campaign.objects.update(next_at=timezone.now() - DAY)
    return case_of("launch_due", made, state="running")


def correct_dates(cast: Cast) -> Case:
    """Two series whose next date a clock chose that was ahead."""
    made = launched(cast, cron="0 7 * * *")
    Campaign.objects.update(next_at=timezone.now() + 99 * DAY)
    return case_of("correct_dates", made, next_at__lt=timezone.now() + 2 * DAY)


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
    return replace(case_of("mark_lost_jobs", jobs, state="lost"), row=jobs[0].node_id)


def note_awaited_tools(cast: Cast) -> Case:
    """Two campaigns under way whose tool came to wait for a manager."""
    pks = []
    for number, (team, user) in enumerate([(cast.team, cast.alice), (cast.other_team, cast.charlie)]):
        (node,) = make.nodes(team, f"a{number}")
        slug = f"probe-{number}"
        toolbox.create_tool(team=team, user=user, slug=slug, definition=definitions.data("site-digest"))
        draft = make.campaign(cast, team=team, user=user)
        roles = make.players(node=node)
        services.create_experiment(campaign=draft, user=user, name="x", tool=f"{slug}.v1", roles=roles, repetitions=1)
        services.launch_campaign(campaign=draft, user=user, now=timezone.now())
        pks.append(draft.pk)
    ToolVersion.objects.update(awaits_manager=True)
    first, second = (is_there(Event, campaign=pk, message__msgid=TOOL_AWAITED) for pk in pks)
    return Case(Event, pks[0], "note_awaited_tools", pks[0], (first, second), insert_column="campaign_id")


def reconcile(cast: Cast) -> Case:
    """Two runs that were claimed by a worker that is gone."""
    launched(cast)
    runs = make.take(now=timezone.now())
    Run.objects.update(updated_at=timezone.now() - DAY)
    return case_of("take_on_runs", sorted(runs, key=lambda run: run.pk), state="running")


def remove_what_is_left(cast: Cast) -> Case:
    """Two nodes to which the removal of files is owed."""
    owed = []
    for number, (team, _user) in enumerate(people(cast)):
        (node,) = make.nodes(team, f"a{number}")
        workers.enrol(node)
        command = {"role": "client", "argv": ["rm", "--", "/a"], "time_limit_s": 5.0, "ready_pattern": ""}
        owed.append(agents.owe_removal(node_id=node.pk, run_ref=number, commands=[command], resources=[]))
    return case_of("remove_what_is_left", owed, job__isnull=False)


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
    return case_of("open_stages", later, expanded_at__isnull=False)


def lift_fences(cast: Cast) -> Case:
    """Two runs of which something is kept back, and nothing can run any more."""
    launched(cast)
    runs = sorted(make.take(now=timezone.now()), key=lambda run: run.pk)
    Reservation.objects.update(fenced_until=timezone.now() - DAY)
    held = [Reservation.objects.filter(run=run).order_by("pk") for run in runs]
    case = case_of("lift_fences", [rows[0] for rows in held], released_at__isnull=False)
    return replace(case, row=runs[0].pk)


def finish_campaigns(cast: Cast) -> Case:
    """Two campaigns with nothing left to do."""
    made = launched(cast)
    Trial.objects.update(state="succeeded")
    return case_of("finish_campaigns", made, state="finished")


def schedule(cast: Cast) -> Case:
    """Two trials that can start."""
    launched(cast)
    return case_of("schedule", list(Trial.objects.order_by("pk")), state="running")


def ask_for_analyses(cast: Cast) -> Case:
    """Two campaigns that have ended."""
    made = launched(cast)
    Trial.objects.update(state="succeeded")
    Campaign.objects.update(state="finished", finished_at=timezone.now())
    case = case_of("analyse", made, analysed_at__isnull=False)
    # An analysis that failed waits for its own time, too.
    return replace(case, hasten=lambda: Analysis.objects.update(began_at=timezone.now() - DAY, next_at=None))


def renew_findings(cast: Cast) -> Case:
    """Two campaigns whose findings other rules drew."""
    made = launched(cast)
    Trial.objects.update(state="succeeded")
    Campaign.objects.update(state="finished", finished_at=timezone.now(), analysed_at=timezone.now())
    past = timezone.now() - DAY
    Analysis.objects.bulk_create(Analysis(campaign=item, began_at=past, ended_at=past) for item in made)
    case = case_of("analyse", made, analysis__asked_with=asked_with())
    return replace(case, hasten=lambda: Analysis.objects.update(began_at=past, next_at=None))


def resume_cancelling(cast: Cast) -> Case:
    """Two cancelled campaigns whose trials nobody marked, however long ago."""
    made = launched(cast)
    Campaign.objects.update(state="cancelled", finished_at=timezone.now() - 30 * DAY, analysed_at=timezone.now())
    Campaign.objects.update(updated_at=timezone.now() - DAY)
    case = case_of("cancel_leftovers", list(Trial.objects.order_by("pk")), state="cancelled")
    return replace(case, row=made[0].pk)


def resume_deletions(cast: Cast) -> Case:
    """Two campaigns that are to be deleted."""
    made, past = launched(cast), timezone.now() - DAY
    Campaign.objects.update(state="finished", deleting_at=past, updated_at=past)
    return case_of_gone("continue_deletions", made)
