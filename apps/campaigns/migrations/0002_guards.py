from django.db import migrations

from apps.core.immutability import KeepColumns

_RECOVERED = "OLD.state = 'failed' AND NEW.state = 'succeeded' AND NEW.reason IS NULL"


class Migration(migrations.Migration):
    replaces = [("campaigns", "0019_lanes_know_their_addresses")]
    dependencies = [("campaigns", "0001_tables"), ("core", "0001_tables")]

    operations = [
        KeepColumns("campaigns_lane", ["experiment_id", "roles"], "which nodes measured never changes"),
        KeepColumns(
            "campaigns_trial",
            ["campaign_id", "experiment_id", "lane_id", "point", "repetition", "is_warmup", "parameters"],
            "what a trial measures never changes",
        ),
        KeepColumns("campaigns_run", ["trial_id", "attempt"], "of which trial a run is never changes"),
        KeepColumns(
            "campaigns_run",
            ["plan", "stage", "started_at", "ended_at"],
            "what happened in a run that ended never changes",
            name="keep_times",
            unless="OLD.state IN ('starting', 'running')",
        ),
        KeepColumns(
            "campaigns_run",
            ["state", "reason"],
            "what became of a run that ended never changes",
            name="keep_end",
            # A mended parser can read what an earlier one could not.
            unless=f"OLD.state IN ('starting', 'running') OR ({_RECOVERED})",
        ),
        KeepColumns("campaigns_run", ["experiment_id"], "of which trial a run is never changes", name="keep_place"),
    ]
