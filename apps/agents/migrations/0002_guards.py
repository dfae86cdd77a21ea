from django.db import migrations

from apps.core.immutability import KeepColumns, KeepRows

# To pack is the one change of what was printed: from the agent's form to a tighter one (`apps.agents.compression`).
XZ = r"'\xfd377a585a00'::bytea"


def packed(column: str) -> str:
    """Return the condition that a column stayed as it was, or was packed."""
    tighter = f"octet_length(NEW.{column}) < octet_length(OLD.{column})"
    was_loose = f"substring(OLD.{column} FROM 1 FOR 6) <> {XZ}"
    is_tight = f"substring(NEW.{column} FROM 1 FOR 6) = {XZ}"
    return f"(NEW.{column} = OLD.{column} OR ({was_loose} AND {is_tight} AND {tighter}))"


PRINTED = ("stdout_z", "stderr_z", "telemetry_z")


class Migration(migrations.Migration):
    replaces = [("agents", "0012_facts_of_archives")]
    dependencies = [("agents", "0001_tables"), ("core", "0001_tables")]

    operations = [
        KeepColumns(
            "agents_job",
            [
                *("node_id", "run_ref", "role", "stage", "argv", "background", "ready_pattern", "optional", "files"),
                *("collect", "environment", "time_limit_s", "output_limit_bytes", "start_at"),
            ],
            "the command of a job never changes",
            name="keep_command",
        ),
        KeepColumns(
            "agents_job",
            [
                *("state", "delivered_at", "started_at", "ready_at", "ended_at", "exit_code", "signal", "timed_out"),
                *("fault", "fault_detail", "clock_offset_s", "clock_error_s"),
            ],
            "what became of a job that ended never changes",
            name="keep_end",
            unless="OLD.state NOT IN ('ended', 'lost')",
        ),
        KeepColumns(
            "agents_job",
            ["facts_id"],
            "under which facts a job ran never changes",
            name="keep_facts",
            # Facts go with their node.
            unless="OLD.facts_id IS NULL OR NEW.facts_id IS NULL",
        ),
        KeepColumns(
            "agents_joboutput",
            ["job_id", "stdout_bytes", "stderr_bytes", "truncated"],
            "what a job printed never changes",
        ),
        KeepColumns(
            "agents_joboutput",
            PRINTED,
            "what a job printed never changes",
            name="keep_bytes",
            unless=" AND ".join(map(packed, PRINTED)),
        ),
        KeepColumns(
            "agents_jobfile", ["job_id", "name", "size", "truncated"], "a file that a job gave back never changes"
        ),
        KeepColumns(
            "agents_jobfile",
            ["content_z"],
            "a file that a job gave back never changes",
            name="keep_bytes",
            unless=packed("content_z"),
        ),
        KeepColumns("agents_factsnapshot", ["node_id", "digest", "facts"], "facts that were read never change"),
        KeepRows("agents_job", "a job goes only with what it was of"),
        KeepRows("agents_joboutput", "what a job printed goes only by retention or with its job"),
        KeepRows("agents_jobfile", "a file that a job gave back goes only by retention or with its job"),
    ]
