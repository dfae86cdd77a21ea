from django.db import migrations

from apps.core.immutability import KeepColumns, KeepRows

# A reading changes only where another edition takes the place of one that is kept.
PREPARE = """
CREATE FUNCTION results_is_kept(result bigint, number smallint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM results_superseded WHERE result_id = result AND edition = number)
$$;
CREATE FUNCTION results_own_flags(flags jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_path_query_array(flags, '$[*] ? (!(@.name == "marked-invalid"))')
$$;
"""
FORGET = """
DROP FUNCTION results_is_kept(bigint, smallint);
DROP FUNCTION results_own_flags(jsonb);
"""
NEXT_EDITION = "NEW.edition = OLD.edition + 1 AND results_is_kept(OLD.id, OLD.edition)"
# Figures of a publication are those that it prints now.
GUARD = """
CREATE FUNCTION results_keep_samples() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM (SELECT DISTINCT result_id, experiment_id FROM gone) one
        JOIN campaigns_experiment experiment ON experiment.id = one.experiment_id
        JOIN campaigns_campaign campaign ON campaign.id = experiment.campaign_id
        WHERE campaign.origin <> 'published'
        AND NOT EXISTS (SELECT FROM campaigns_tombstone stone WHERE stone.permanent_id = campaign.permanent_id)
        AND NOT EXISTS (
            SELECT FROM results_result result
            WHERE result.id = one.result_id AND results_is_kept(result.id, result.edition)
        )
    ) THEN
        RAISE EXCEPTION 'samples go only with their campaign, or kept in an earlier edition'
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER results_keep_samples AFTER DELETE ON results_sample REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION results_keep_samples();
"""
UNGUARD = """
DROP TRIGGER results_keep_samples ON results_sample;
DROP FUNCTION results_keep_samples();
"""
# Campaigns and agents know nothing of each other: what refers to a run by its number alone goes with it here.
FORGET_JOBS = """
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
KEEP_JOBS = """
DROP TRIGGER results_forget_jobs ON campaigns_run;
DROP FUNCTION results_forget_jobs();
"""
# So do the facts that an archive brought, with its campaign.
FORGET_FACTS = """
CREATE FUNCTION results_forget_facts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM agents_factsnapshot snapshot USING gone WHERE snapshot.archive_ref = gone.permanent_id
        AND NOT EXISTS (SELECT FROM agents_job job WHERE job.facts_id = snapshot.id);
    RETURN NULL;
END $$;
CREATE TRIGGER results_forget_facts AFTER DELETE ON campaigns_campaign REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION results_forget_facts();
"""
KEEP_FACTS = """
DROP TRIGGER results_forget_facts ON campaigns_campaign;
DROP FUNCTION results_forget_facts();
"""


class Migration(migrations.Migration):
    replaces = [("results", "0016_facts_go_with_their_campaign")]
    dependencies = [("agents", "0001_tables"), ("campaigns", "0001_tables"), ("core", "0001_tables"), ("results", "0001_tables")]

    operations = [
        migrations.RunSQL(PREPARE, FORGET),
        migrations.RunSQL(GUARD, UNGUARD),
        migrations.RunSQL(FORGET_JOBS, KEEP_JOBS),
        migrations.RunSQL(FORGET_FACTS, KEEP_FACTS),
        KeepColumns(
            "results_sample",
            ["result_id", "trial_id", "experiment_id", "metric", "value"],
            "a sample never changes",
        ),
        KeepColumns(
            "results_series",
            ["result_id", "metric", "stream", "unit"],
            "a time series never changes",
        ),
        KeepColumns(
            "results_series",
            ["times", "values", "packed_z"],
            "a time series never changes",
            name="keep_values",
            # To pack it is the one change.
            unless="OLD.packed_z IS NULL AND NEW.packed_z IS NOT NULL"
            ' AND cardinality(NEW.times) = 0 AND cardinality(NEW."values") = 0',
        ),
        KeepColumns(
            "results_result",
            ["run_id", "trial_id", "experiment_id", "tool", "recorded_at"],
            "of which run a result is never changes",
        ),
        KeepColumns(
            "results_result",
            ["tool_version", "requested", "granted", "observed", "start_skew_s", "edition"],
            "a result never changes: another edition takes its place",
            name="keep_reading",
            unless=NEXT_EDITION,
        ),
        KeepColumns(
            "results_result",
            ["flags"],
            "what is said of a result never changes, but for what a person marks",
            name="keep_flags",
            unless=f"results_own_flags(OLD.flags) = results_own_flags(NEW.flags) OR ({NEXT_EDITION})",
        ),
        KeepColumns(
            "results_result",
            ["edition_reason", "edition_at"],
            "the reason of an edition never changes",
            name="keep_reason",
            # A run that only a later parser could read has its first edition then.
            unless=f"OLD.edition_at IS NULL AND NEW.edition = OLD.edition OR ({NEXT_EDITION})",
        ),
        KeepColumns(
            "results_stagetiming",
            ["run_id", "stage", "name", "commands", "started", "skew_s", "late_s", "overlap", "clock_error_s"],
            "the timing of a stage never changes",
        ),
        KeepColumns(
            "results_superseded",
            ["result_id", "edition", "reading_z", "reason", "made_at", "superseded_at"],
            "an earlier edition never changes",
        ),
        KeepRows("results_result", "a result goes only with its campaign"),
        KeepRows("results_series", "a time series goes only by retention, with its campaign, or kept in an edition"),
        KeepRows("results_superseded", "an earlier edition goes only with its campaign"),
    ]
