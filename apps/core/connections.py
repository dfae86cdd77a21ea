"""What web processes and workers make of PostgreSQL's address: how many connections, for how long, with limits."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django import db

from apps.core.sessions import Session
from apps.core.timeouts import IDLE_S

Entry = dict[str, Any]
# What else a request lets go of when it begins to wait.
on_wait: ContextVar[Callable[[], object] | None] = ContextVar("what is let go of by who waits", default=None)

# What answers people, or takes a step of a measurement, frees what it holds soon, also when it has come to a halt.
# Commands (migrations) are not limited, long tasks less: see apps.core.timeouts.
LIMITS = f"-c lock_timeout=20s -c idle_in_transaction_session_timeout={IDLE_S}s -c statement_timeout=60s"
# What their sessions are named in the database.
WEB, WORKER = "fathom web", "fathom worker"
# A server process that hangs keeps none of them: who waits for it gives it up a little later (s).
ANSWERS_WITHIN_S = 75.0


def fit_to_web(entry: Entry, *, most: int) -> None:
    """Have all threads of a web process share `most` connections at most, each for as long as a request takes."""
    entry["CONN_MAX_AGE"] = 0
    # A pool that looks at each connection before it gives it out waits ten seconds for the second dead one; what
    # died is replaced when the first is met (apps.core.outage).
    entry["CONN_HEALTH_CHECKS"] = False
    entry["OPTIONS"]["pool"] = {
        "connection_class": Session,
        "min_size": 1,
        "max_size": most,
        "timeout": 5.0,
        "max_idle": 60.0,
        "max_lifetime": 3600.0,
        # Who asks next tries again; to go on trying alone would delay the first after an outage.
        "reconnect_timeout": 1.0,
    }
    _limit(entry, WEB)


def fit_to_worker(entry: Entry) -> None:
    """Have each process of a worker keep its one connection from task to task, and look at it before each."""
    entry["CONN_MAX_AGE"] = 60
    entry["CONN_HEALTH_CHECKS"] = True
    _limit(entry, WORKER)


def give_back() -> None:
    """Give back what the thread's request holds, for who waits keeps none from those who need not."""
    if let_go := on_wait.get():
        let_go()
    give_back_connection()


def give_back_connection() -> None:
    """Give the thread's connection back; one within a transaction is kept, which could not go on without it."""
    if not any(each.in_atomic_block for each in db.connections.all(initialized_only=True)):
        db.close_old_connections()


def _limit(entry: Entry, name: str) -> None:
    options = entry["OPTIONS"]
    options.setdefault("application_name", name)
    options["answers_within_s"] = ANSWERS_WITHIN_S
    # Who lets nobody set how queries are planned has nothing set.
    if options.get("options"):
        options["options"] = f"{options['options']} {LIMITS}"
