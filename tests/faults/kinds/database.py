"""Faults of the database that leave it at work: tables that somebody has locked, sessions that are ended."""

import time
from collections.abc import Iterator
from random import Random

import psycopg
from psycopg import sql

from tests.faults.site import Site, patiently

# What pages, agents, workers and the timetable read or write all the time.
TABLES = (
    "accounts_user", "agents_agent", "agents_job", "campaigns_campaign", "campaigns_reservation", "campaigns_run",
    "campaigns_trial", "core_setaside", "results_result", "results_sample", "testbeds_node",
)  # fmt: skip
# For so long somebody's transaction holds a table (s): as long as the service waits for a lock.
LOCKED_S = 20.0
# The name of our own sessions, which are none of the service's.
_OURS = "fathom faults"


def lock_table(site: Site, draw: Random) -> Iterator[str]:
    """Have somebody's transaction hold a table so that nobody may even read it, for 20 s."""
    table = draw.choice(TABLES)
    with _connected(site) as holder:
        holder.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(sql.Identifier(table)))
        try:
            yield ""
            time.sleep(LOCKED_S)
        finally:
            # PostgreSQL may have been ended meanwhile.
            holder.close()


def terminate_sessions(site: Site, draw: Random) -> Iterator[str]:
    """End the service's sessions, some at a time, whatever they are doing."""
    yield ""
    for _time in range(draw.randint(2, 6)):
        with _connected(site) as asking:
            asking.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                " AND backend_type = 'client backend' AND application_name <> %s AND random() < %s",
                (_OURS, draw.choice((0.3, 0.7, 1.0))),
            )
        time.sleep(draw.uniform(0.2, 2.0))


def _connected(site: Site) -> psycopg.Connection:
    """Return a session of ours, as soon as the database takes one."""
    address = patiently(lambda: site.stack.state()["database_url"], KeyError)
    return patiently(lambda: psycopg.connect(address, application_name=_OURS), psycopg.OperationalError)
