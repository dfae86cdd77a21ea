from django.db import migrations

from apps.core.immutability import KeepColumns

# The one definition of which figure counts (in Python, of one flag: apps.bench.toolkit.is_invalid). Three things
# can change it: that a sample is stored, that its result gets other flags, that its trial is marked or no more.
DEFINE = """
CREATE FUNCTION results_counts(is_warmup boolean, invalid_at timestamptz, flags jsonb, metric text)
RETURNS boolean LANGUAGE sql STABLE AS $$
    -- Without a subquery, so that it becomes part of the statement that asks it.
    SELECT NOT is_warmup AND invalid_at IS NULL AND (flags = '[]' OR NOT jsonb_path_exists(
        flags,
        '$[*] ? (@.severity == "invalid" && (!exists(@.metrics) || @.metrics == null || @.metrics.size() == 0
            || exists(@.metrics[*] ? (@ == $metric))))',
        jsonb_build_object('metric', metric)
    ))
$$;
CREATE FUNCTION results_count_fresh() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Planned anew for each statement: what is right for a hundred thousand samples looks through all for one.
    EXECUTE '
        UPDATE results_sample sample SET counts = NOT sample.counts
        FROM fresh
        JOIN results_result result ON result.id = fresh.result_id
        JOIN campaigns_trial trial ON trial.id = fresh.trial_id
        WHERE sample.id = fresh.id AND fresh.counts IS DISTINCT FROM
            results_counts(trial.is_warmup, trial.invalid_at, result.flags, fresh.metric)';
    RETURN NULL;
END $$;
CREATE FUNCTION results_count_flagged() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE results_sample sample SET counts = NOT sample.counts
    FROM campaigns_trial trial
    WHERE sample.result_id = NEW.id AND trial.id = sample.trial_id AND sample.counts IS DISTINCT FROM
        results_counts(trial.is_warmup, trial.invalid_at, NEW.flags, sample.metric);
    RETURN NULL;
END $$;
CREATE FUNCTION results_count_marked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE results_sample sample SET counts = NOT sample.counts
    FROM results_result result
    WHERE sample.trial_id = NEW.id AND result.id = sample.result_id AND sample.counts IS DISTINCT FROM
        results_counts(NEW.is_warmup, NEW.invalid_at, result.flags, sample.metric);
    RETURN NULL;
END $$;
CREATE TRIGGER results_count_fresh AFTER INSERT ON results_sample REFERENCING NEW TABLE AS fresh
FOR EACH STATEMENT EXECUTE FUNCTION results_count_fresh();
CREATE TRIGGER results_count_flagged AFTER UPDATE OF flags ON results_result
FOR EACH ROW WHEN (OLD.flags IS DISTINCT FROM NEW.flags) EXECUTE FUNCTION results_count_flagged();
CREATE TRIGGER results_count_marked AFTER UPDATE OF invalid_at, is_warmup ON campaigns_trial
FOR EACH ROW WHEN ((OLD.invalid_at IS NULL, OLD.is_warmup) IS DISTINCT FROM (NEW.invalid_at IS NULL, NEW.is_warmup))
EXECUTE FUNCTION results_count_marked();
-- Also where a session plays a replica and passes by what refuses changes: the fact follows whatever is stored.
ALTER TABLE results_sample ENABLE ALWAYS TRIGGER results_count_fresh;
ALTER TABLE results_result ENABLE ALWAYS TRIGGER results_count_flagged;
ALTER TABLE campaigns_trial ENABLE ALWAYS TRIGGER results_count_marked;
"""
FORGET = """
DROP TRIGGER results_count_marked ON campaigns_trial;
DROP TRIGGER results_count_flagged ON results_result;
DROP TRIGGER results_count_fresh ON results_sample;
DROP FUNCTION results_count_marked();
DROP FUNCTION results_count_flagged();
DROP FUNCTION results_count_fresh();
DROP FUNCTION results_counts(boolean, timestamptz, jsonb, text);
"""


class Migration(migrations.Migration):
    replaces = [("results", "0017_to_comparison_and_archive")]
    dependencies = [("results", "0002_guards")]

    operations = [
        migrations.RunSQL(DEFINE, FORGET),
        KeepColumns(
            "results_sample",
            ["counts"],
            "which sample counts follows from its trial and flags",
            name="keep_counts",
            unless="pg_trigger_depth() > 0",
        ),
    ]
