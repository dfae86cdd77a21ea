from django.db import migrations

from apps.core.immutability import KeepRows

# Campaigns and agents know nothing of each other: what refers to a run by its number alone goes with it here.
GO_ALONG = """
CREATE FUNCTION results_forget_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM agents_joboutput o USING agents_job job, gone WHERE job.run_ref = gone.id AND o.job_id = job.id;
    DELETE FROM agents_jobfile f USING agents_job job, gone WHERE job.run_ref = gone.id AND f.job_id = job.id;
    DELETE FROM agents_job job USING gone WHERE job.run_ref = gone.id;
    RETURN NULL;
END $$;
CREATE TRIGGER results_forget_jobs AFTER DELETE ON campaigns_run REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION results_forget_jobs();
"""
STAY_BEHIND = """
DROP TRIGGER results_forget_jobs ON campaigns_run;
DROP FUNCTION results_forget_jobs();
"""
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
        migrations.RunSQL(GO_ALONG, STAY_BEHIND),
        KeepRows("results_result", "a result goes only with its campaign"),
        KeepRows("results_series", "a time series goes only by retention, with its campaign, or kept in an edition"),
        KeepRows("results_superseded", "an earlier edition goes only with its campaign"),
    ]
