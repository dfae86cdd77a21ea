"""What the service's database holds of a campaign, asked past the service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import dict_row

_TRIALS = """
    SELECT trial.id, trial.state, trial.attempts, trial.reason, lane.roles,
           extract(epoch FROM trial.finished_at)::float AS finished_at,
           (SELECT count(*) FROM results_result WHERE trial_id = trial.id) AS results
      FROM campaigns_trial trial JOIN campaigns_lane lane ON lane.id = trial.lane_id
     WHERE trial.campaign_id = %s ORDER BY trial.id
"""
_RUNS = """
    SELECT run.id, run.trial_id AS trial, run.attempt, run.state, run.reason, run.ended_at IS NOT NULL AS has_ended,
           coalesce((SELECT flags FROM results_result WHERE run_id = run.id), '[]'::jsonb) AS flags,
           (SELECT sample.value FROM results_sample sample JOIN results_result result ON result.id = sample.result_id
             WHERE result.run_id = run.id AND sample.metric = 'token') AS token
      FROM campaigns_run run JOIN campaigns_trial trial ON trial.id = run.trial_id
     WHERE trial.campaign_id = %s ORDER BY run.id
"""
_JOBS = """
    SELECT job.id::text AS id, job.run_ref AS run, job.state, job.fault, job.exit_code, job.signal, job.background,
           extract(epoch FROM job.created_at)::float AS created_at,
           extract(epoch FROM job.updated_at)::float AS updated_at,
           extract(epoch FROM job.started_at)::float AS started_at,
           extract(epoch FROM job.ended_at)::float AS ended_at,
           EXISTS (SELECT FROM campaigns_event event WHERE event.trial_id = run.trial_id
                   AND event.message->'params'->>'run' = run.id::text
                   AND event.message->>'msgid' LIKE 'The server''s clock was set%%') AS spans_step,
           node.name AS node, job.presumed_ended_at IS NULL AND job.may_run_until > now() AS is_leftover
      FROM agents_job job JOIN testbeds_node node ON node.id = job.node_id
      LEFT JOIN campaigns_run run ON run.id = job.run_ref LEFT JOIN campaigns_trial trial ON trial.id = run.trial_id
     WHERE trial.campaign_id = %s OR job.run_ref IS NULL ORDER BY job.created_at
"""
_RESERVATIONS = "SELECT resource, run_id, fenced_until FROM campaigns_reservation WHERE released_at IS NULL"
_SESSIONS = """
    SELECT application_name, state, left(query, 100) AS query FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND (state LIKE 'idle in transaction%%' OR wait_event_type = 'Lock') AND now() - state_change > '5 s'
"""
_SET_ASIDE = "SELECT work, row_id, reason FROM core_setaside"
Row = dict[str, Any]


@dataclass(frozen=True)
class Records:
    """Rows by kind; `campaign` is the campaign's own, `sessions` those of the database that hold others up."""

    campaign: Row
    trials: list[Row]
    runs: list[Row]
    jobs: list[Row]
    reservations: list[Row]
    sessions: list[Row]
    set_aside: list[Row]


def read(address: str, campaign: int) -> Records:
    """Return what a database holds of a campaign; psycopg.OperationalError while it is away."""
    with psycopg.connect(address, row_factory=dict_row, connect_timeout=10) as asking:

        def rows(query: str, *values: object) -> list[Row]:
            return asking.execute(query, values or None).fetchall()

        (own,) = rows("SELECT state, finished_at FROM campaigns_campaign WHERE id = %s", campaign)
        return Records(
            own,
            rows(_TRIALS, campaign),
            rows(_RUNS, campaign),
            rows(_JOBS, campaign),
            rows(_RESERVATIONS),
            rows(_SESSIONS.replace("%%", "%")),
            rows(_SET_ASIDE),
        )


def finishes(records: Records) -> list[tuple[float, frozenset[int]]]:
    """Return when each trial came to its end (s since 1970), and the ids of its nodes, in order."""
    ends = [
        (float(row["finished_at"]), frozenset(node for members in row["roles"].values() for node in members))
        for row in records.trials
        if row["finished_at"] is not None
    ]
    return sorted(ends, key=lambda end: end[0])
