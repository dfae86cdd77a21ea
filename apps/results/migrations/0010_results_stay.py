from django.db import migrations

from apps.core.immutability import KeepRows

# What jobs printed used to outlive the campaigns that they were of, out of anybody's sight.
ORPHANS = """
CREATE TEMPORARY TABLE orphans ON COMMIT DROP AS
SELECT job.id FROM agents_job job
WHERE job.run_ref IS NOT NULL AND NOT EXISTS (SELECT FROM campaigns_run run WHERE run.id = job.run_ref);
SELECT set_config('fathom.letting_go', 'on', true);
DELETE FROM agents_joboutput WHERE job_id IN (SELECT id FROM orphans);
DELETE FROM agents_jobfile WHERE job_id IN (SELECT id FROM orphans);
DELETE FROM agents_job WHERE id IN (SELECT id FROM orphans);
SELECT set_config('fathom.letting_go', 'off', true);
SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0005_what_was_printed_stays"),
        ("campaigns", "0010_runs_by_end"),
        ("results", "0009_expiry_and_sheets_of_imports"),
    ]

    operations = [
        migrations.RunSQL(ORPHANS, migrations.RunSQL.noop),
        KeepRows("results_result", "a result goes only with its campaign"),
        KeepRows("results_series", "a time series goes only by retention, with its campaign, or kept in an edition"),
        KeepRows("results_superseded", "an earlier edition goes only with its campaign"),
    ]
