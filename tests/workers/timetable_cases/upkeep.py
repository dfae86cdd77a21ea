"""Cases of what is made of what was measured, and of what goes after a while."""

from dataclasses import replace
from typing import Any

from django.utils import timezone

from apps.accounts.models import Invitation, TeamUsage
from apps.archive.models import Import, IncomingArchive, KeptText, RetentionRule, SearchEntry
from apps.campaigns import services
from apps.campaigns.models import Campaign, Run
from apps.core.models import LastChange, SetAside
from apps.reports import services as reports
from apps.reports.models import Delivery, Rendering, Report, Schedule
from tests import rewriting
from tests.campaigns import factories as make
from tests.factories import Cast
from tests.reports import documents
from tests.workers.timetable_cases.cases import DAY, Case, case_of, case_of_gone, is_there, launched, people


def count_stored(cast: Cast) -> Case:
    """Two teams whose bytes were counted long ago."""
    past = timezone.now() - DAY
    made = [TeamUsage.objects.create(team=team, counted_at=past) for team, _user in people(cast)]
    return replace(case_of("count_stored", made, counted_at__gt=past), row=made[0].team_id)


def resume_renderings(cast: Cast) -> Case:
    """Two files that nobody makes."""
    made = []
    for team, user in people(cast):
        report = Report.objects.create(team=team, language="en", title="Windows")
        edition = reports.keep_edition(report=report, document=documents.document(), user=user, now=timezone.now())
        wanted = {"report": report, "edition": edition, "format": "json", "requested_by": user}
        made.append(Rendering.objects.create(**wanted, requested_at=timezone.now()))
    return case_of("render", made, state="done")


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
    return case_of("start_due", _schedules(cast), next_at__gt=timezone.now())


def resume_deliveries(cast: Cast) -> Case:
    """Two deliveries that nobody is at."""
    past = timezone.now() - DAY
    made = [Delivery.objects.create(schedule=row, due_at=past, look_at=past) for row in _schedules(cast)]
    Schedule.objects.update(next_at=timezone.now() + DAY)
    return case_of("deliver", made, state__in=("rendering", "done"))


def _imports(cast: Cast, **values: Any) -> list[Import]:
    return [
        Import.objects.create(team=team, created_by=user, name="a", kind="outputs", **values)
        for team, user in people(cast)
    ]


def resume_imports(cast: Cast) -> Case:
    """Two imports that nobody is at, of files that are gone."""
    return case_of(
        "advance_import", _imports(cast, uploads=[{"name": "a", "size": 1, "sha256": "0"}]), state="refused"
    )


def _archives(cast: Cast, **values: Any) -> list[IncomingArchive]:
    return [
        IncomingArchive.objects.create(team=team, created_by=user, name="a.zip", size=4, **values)
        for team, user in people(cast)
    ]


def resume_archives(cast: Cast) -> Case:
    """Two archives that nobody is at, of files that are gone."""
    return case_of("take_archives", _archives(cast), state="refused")


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
    return case_of("carry_out_rules", _rules(cast, begun_at=timezone.now()), runs_done=1, begun_at=None)


def expire_imports(cast: Cast) -> Case:
    """Two imports that nobody decided on."""
    made = _imports(cast, state="ready")
    Import.objects.update(updated_at=timezone.now() - 100 * DAY)
    return case_of("expire_imports", made, state="expired")


def expire_archives(cast: Cast) -> Case:
    """Two archives that nobody decided on."""
    made = _archives(cast, state="ready", preview={"campaign": "x"})
    IncomingArchive.objects.update(updated_at=timezone.now() - 100 * DAY)
    return case_of("expire_archives", made, state="expired")


def forget_rows_set_aside(cast: Cast) -> Case:
    """Two rows that have not come up again for long."""
    times = dict.fromkeys(("first_at", "last_at", "retry_at"), timezone.now() - 100 * DAY)
    rows = [SetAside.objects.create(work="some", row_id=row, attempts=1, **times) for row in (1, 2)]
    return case_of_gone("forget_rows_set_aside", rows)


def forget_changes(cast: Cast) -> Case:
    """Two things that somebody changed long ago."""
    noted = {"kind": "testbeds.site", "username": "oscar", "at": timezone.now() - 100 * DAY}
    return case_of_gone("forget_changes", [LastChange.objects.create(row_id=row, **noted) for row in (1, 2)])


def forget_invitations(cast: Cast) -> Case:
    """Two invitations that nobody answered for long."""
    made = [Invitation.objects.create(team=team, username="dana") for team, _user in people(cast)]
    Invitation.objects.update(created_at=timezone.now() - 100 * DAY)
    return case_of_gone("forget_invitations", made)


def forget_texts(cast: Cast) -> Case:
    """Two texts of public campaigns that were written long ago."""
    launched(cast, visibility="public")
    kept = {"part": "recipe", "language": "en", "hidden": True, "digest": "0", "text": "recipe"}
    made = [KeptText(campaign=row, **kept, written_at=timezone.now() - 100 * DAY) for row in Campaign.objects.all()]
    return case_of_gone("forget_texts", KeptText.objects.bulk_create(made))


def carry_out_rules(cast: Cast) -> Case:
    """Two rules of retention, each with a run that is due."""
    return case_of("carry_out_rules", _rules(cast), runs_done=1)


def index_due(cast: Cast) -> Case:
    """Two experiments that are not in the archive yet."""
    pks = [campaign.experiments.get().pk for campaign in launched(cast)]
    done = is_there(SearchEntry, pks[0]), is_there(SearchEntry, pks[1])
    return Case(SearchEntry, pks[0], "index_due", pks[0], done, insert_column="experiment_id")
