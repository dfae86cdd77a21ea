"""Transactions in which nothing is asked any more, and which hold what others wait for.

PostgreSQL ends them itself (apps.core.connections.LIMITS), but counts by the server's clock: where that is set back
by two hours, it does so two hours late. Who looks here counts by a clock that is never set.
"""

import logging
import time
from datetime import datetime
from typing import Any

from django.db import connection

from apps.core import leases
from apps.core.connections import WEB, WORKER
from apps.core.timeouts import IDLE_S, LONG, LONG_IDLE_S

# PostgreSQL comes first where it can (s).
_GRACE_S = 10.0
_IDLE = """
SELECT pid, state_change, application_name FROM pg_stat_activity
WHERE datname = current_database() AND starts_with(state, 'idle in transaction') AND application_name = ANY(%s)
"""

logger = logging.getLogger(__name__)

# Since when (monotonic, s) this process sees each session as it is: (its process, when it began to be idle).
_since: dict[tuple[int, Any], float] = {}


def end_idle_transactions(*, now: datetime) -> list[int]:
    """End each session of ours that this process has seen idle in one transaction for too long; return which."""
    limits_s = {
        name + more: limit_s for name in (WEB, WORKER) for more, limit_s in (("", IDLE_S), (LONG, LONG_IDLE_S))
    }
    with connection.cursor() as cursor:
        cursor.execute(_IDLE, [list(limits_s)])
        names = {(pid, changed_at): name for pid, changed_at, name in cursor.fetchall()}
        at = time.monotonic()
        idle_s = {session: at - _since.setdefault(session, at) for session in names}
        for gone in _since.keys() - names.keys():
            del _since[gone]
        overdue = [session for session, lasts_s in idle_s.items() if lasts_s > limits_s[names[session]] + _GRACE_S]
        for session in overdue:
            logger.warning("process %s of the database is idle in a transaction: it is ended", session[0])
            cursor.execute(leases.END, session)
    return [pid for pid, _changed_at in overdue]
