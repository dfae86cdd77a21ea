"""What was measured never changes: the database refuses it, whoever asks, and lets pass what services do."""

import zlib

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from apps.agents import compression
from apps.agents.models import FactSnapshot, Job, JobFile, JobOutput
from apps.campaigns.models import Campaign, Run
from apps.core import immutability
from apps.results import packed_arrays
from apps.results.models import Result, Series, StageTiming, Superseded
from apps.testbeds.models import Node

XZ = bytes.fromhex("fd377a585a00")
REFUSED = [
    "UPDATE results_sample SET value = value + 1",
    "UPDATE results_sample SET metric = metric || 'x'",
    "UPDATE results_sample SET trial_id = trial_id + 1",
    "UPDATE results_sample SET result_id = result_id + 1",
    "UPDATE results_sample SET counts = NOT counts",
    "DELETE FROM results_sample",
    "UPDATE results_series SET unit = 'x'",
    "UPDATE results_series SET values[1] = 5",
    "UPDATE results_series SET times = '{}', values = '{}'",
    "UPDATE results_series SET packed_z = '\\x00'",
    "UPDATE results_result SET trial_id = trial_id + 1",
    "UPDATE results_result SET recorded_at = now()",
    "UPDATE results_result SET observed = '{\"mss\": 1}'",
    "UPDATE results_result SET edition = 2, tool_version = '4'",
    'UPDATE results_result SET flags = \'[{"name": "lossy", "severity": "info"}]\'',
    "UPDATE results_result SET edition = 2",
    "DELETE FROM results_series",
    "DELETE FROM results_result",
    "DELETE FROM results_superseded",
    "DELETE FROM agents_joboutput",
    "DELETE FROM agents_jobfile",
    "DELETE FROM agents_job",
    "UPDATE results_stagetiming SET skew_s = 0",
    "UPDATE results_superseded SET reason = 'another'",
    "UPDATE agents_job SET argv = '{true}'",
    "UPDATE agents_job SET exit_code = 3",
    "UPDATE agents_job SET ended_at = now()",
    "UPDATE agents_job SET state = 'running'",
    "UPDATE agents_job SET facts_id = facts_id + 1",
    "UPDATE agents_joboutput SET stdout_bytes = stdout_bytes + 1",
    "UPDATE agents_joboutput SET stdout_z = ''",
    "UPDATE agents_joboutput SET stderr_z = '\\xfd377a585a00' || stderr_z || stderr_z",
    "UPDATE agents_jobfile SET name = 'other'",
    "UPDATE agents_jobfile SET content_z = ''",
    "UPDATE agents_factsnapshot SET facts = '{\"cpu\": 2}'",
    "UPDATE campaigns_lane SET roles = '{}'",
    "UPDATE campaigns_trial SET parameters = '{}'",
    "UPDATE campaigns_trial SET is_warmup = true",
    "UPDATE campaigns_run SET plan = '{\"stages\": []}'",
    "UPDATE campaigns_run SET started_at = now() + interval '1 s'",
    "UPDATE campaigns_run SET ended_at = NULL",
    "UPDATE campaigns_run SET state = 'failed'",
    "UPDATE campaigns_run SET attempt = 9",
    "UPDATE campaigns_run SET experiment_id = experiment_id + 1",
]
# Rows that are of no campaign any more, what a person says, and what retention noted.
ALLOWED = [
    "UPDATE results_sample SET value = value",
    'UPDATE results_result SET flags = flags || \'[{"name": "marked-invalid"}]\'',
    "UPDATE results_result SET series_dropped_at = now(), output_dropped_at = now()",
    "UPDATE agents_job SET stop_requested_at = now(), updated_at = now()",
    "UPDATE agents_job SET facts_id = NULL",
    "UPDATE campaigns_trial SET state = 'pending', attempts_allowed = 3, invalid_reason = 'Loose'",
    "UPDATE campaigns_run SET updated_at = now()",
]


@pytest.fixture
def complete(measured: Campaign, pair: list[Node]) -> Campaign:
    """Return a measured campaign that has a row of everything."""
    run = Run.objects.filter(trial__campaign=measured).earliest("pk")
    result = Result.objects.get(run=run)
    now = timezone.now()
    StageTiming.objects.create(run=run, stage=9, name="x", commands=1, started=1, skew_s=0.1)
    Superseded.objects.create(result=result, edition=7, reading_z=b"x", made_at=now, superseded_at=now)
    job = Job.objects.filter(run_ref=run.pk).latest("pk")
    content = zlib.compress("\n".join(map(str, range(2000))).encode(), 1)
    JobFile.objects.create(job=job, name="file", content_z=content, size=5000)
    facts = FactSnapshot.objects.create(node=pair[0], digest="x", facts={"cpu": 1})
    lost = Job.objects.create(node=pair[0], role="x", argv=["x"], time_limit_s=1, state="lost", facts=facts)
    JobOutput.objects.create(job=lost, stdout_z=content, stderr_z=content)
    return measured


def outcome_of(statement: str) -> str:
    """Return "refused", or how many rows a statement changed, which it has then not."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
            changed = str(cursor.rowcount)
            transaction.set_rollback(True)
    except IntegrityError as error:
        assert immutability.is_refusal(error), error
        return "refused"
    return changed


def test_the_database_refuses_what_was_measured_to_be_changed(complete: Campaign) -> None:
    assert {statement: outcome_of(statement) for statement in REFUSED} == dict.fromkeys(REFUSED, "refused")
    passed = {statement: outcome_of(statement) for statement in ALLOWED}
    assert not [statement for statement, outcome in passed.items() if outcome in ("refused", "0")], passed


def test_retention_may_pack_and_drop_and_nothing_else(complete: Campaign) -> None:
    output = JobOutput.objects.get(job__state="lost")
    tight = compression.pack(output.stdout_z)
    assert tight.startswith(XZ)
    with pytest.raises(IntegrityError), transaction.atomic():
        JobOutput.objects.filter(pk=output.pk).update(stdout_z=tight, stderr_z=b"")
    JobOutput.objects.filter(pk=output.pk).update(stdout_z=tight)
    with pytest.raises(IntegrityError), transaction.atomic():
        JobOutput.objects.filter(pk=output.pk).update(stdout_z=output.stdout_z)
    file = JobFile.objects.get()
    JobFile.objects.filter(pk=file.pk).update(content_z=compression.pack(file.content_z))
    series = Series.objects.first()
    packed = packed_arrays.pack_arrays(series.times, series.values)
    Series.objects.filter(pk=series.pk).update(times=[], values=[], packed_z=packed)
    with pytest.raises(IntegrityError), transaction.atomic():
        Series.objects.filter(pk=series.pk).update(packed_z=packed_arrays.pack_arrays([1.0], [2.0]))
    with pytest.raises(IntegrityError), transaction.atomic():
        Series.objects.all().delete()
    with immutability.letting_go():
        Series.objects.filter(pk=series.pk).delete()
    # What was let go is over with the block, also within a transaction.
    with pytest.raises(IntegrityError), transaction.atomic():
        Series.objects.all().delete()
    with immutability.letting_go():
        JobOutput.objects.all().delete()


def test_a_reading_changes_only_where_the_edition_before_it_is_kept(complete: Campaign) -> None:
    result = Result.objects.earliest("pk")
    rows = Result.objects.filter(pk=result.pk)
    anew = {"edition": 2, "tool_version": "4.0", "edition_reason": "Mended", "edition_at": timezone.now()}
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(**anew)
    with pytest.raises(IntegrityError), transaction.atomic():
        result.samples.all().delete()
    now = timezone.now()
    Superseded.objects.create(result=result, edition=1, reading_z=b"x", made_at=now, superseded_at=now)
    result.samples.all().delete()
    rows.update(**anew)
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(edition_reason="Another")
    # Only the edition that it is now makes room for the next.
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(edition=3, tool_version="5.0")


def test_what_is_under_way_goes_on(complete: Campaign, pair: list[Node]) -> None:
    trial = complete.trials.first()
    run = Run.objects.create(trial=trial, experiment=trial.experiment, attempt=9)
    Run.objects.filter(pk=run.pk).update(state="running", plan={"stages": []}, stage=1)
    Run.objects.filter(pk=run.pk).update(state="failed", reason={"code": "x"}, ended_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(reason=None)
    job = Job.objects.create(node=pair[0], role="x", argv=["x"], time_limit_s=1)
    Job.objects.filter(pk=job.pk).update(state="running", started_at=timezone.now())
    Job.objects.filter(pk=job.pk).update(state="ended", ended_at=timezone.now(), exit_code=0)
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.filter(pk=job.pk).update(exit_code=1)


def test_nothing_looks_at_rows_one_by_one_as_they_come_in(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            # For each row (1), at an INSERT (4).
            "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgtype & 5 = 5"
            " AND tgname ~ '^(results|agents|campaigns)_'"
        )
        assert cursor.fetchall() == []
