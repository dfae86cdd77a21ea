"""Heartbeats: when each agent was heard last, written for many at once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction

from apps.agents.models import Agent

# Nobody listened if nothing was written for this long.
DEAF_AFTER = timedelta(seconds=10)

_LISTEN = """
    INSERT INTO agents_listener AS listener (id, listening_since, heard_until) VALUES (1, %(now)s, %(now)s)
    ON CONFLICT (id) DO UPDATE
       SET heard_until = GREATEST(listener.heard_until, EXCLUDED.heard_until),
           listening_since = CASE WHEN listener.heard_until < %(deaf_since)s
                                  THEN EXCLUDED.listening_since ELSE listener.listening_since END
"""
_HEAR = """
    UPDATE agents_agent AS agent
       SET last_seen_at = GREATEST(COALESCE(agent.last_seen_at, heard.at), heard.at),
           clock_offset_s = COALESCE(heard.offset_s, agent.clock_offset_s),
           clock_error_s = COALESCE(heard.error_s, agent.clock_error_s)
      FROM unnest(%(ids)s::bigint[], %(times)s::timestamptz[], %(offsets)s::float8[], %(errors)s::float8[])
           AS heard(id, at, offset_s, error_s)
     WHERE agent.id = heard.id AND agent.retired_at IS NULL
"""


@dataclass(frozen=True)
class Heartbeat:
    """The last that was heard of an agent: when, and its clock's offset to ours (s) with its uncertainty."""

    agent_id: int
    at: datetime
    offset_s: float | None = None
    error_s: float | None = None


def record_heartbeats(*, heartbeats: Collection[Heartbeat], now: datetime) -> None:
    """Write that somebody listens and, in one statement, when agents were last heard."""
    with connection.cursor() as cursor:
        cursor.execute(_LISTEN, {"now": now, "deaf_since": now - DEAF_AFTER})
    if heartbeats:
        _record_all(sorted(heartbeats, key=lambda beat: beat.agent_id))


@transaction.atomic
def _record_all(heartbeats: Sequence[Heartbeat]) -> None:
    ids = [beat.agent_id for beat in heartbeats]
    # Taken in one order, rows cannot have two processes wait for each other.
    list(Agent.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk").values_list("pk"))
    with connection.cursor() as cursor:
        cursor.execute(
            _HEAR,
            {
                "ids": ids,
                "times": [beat.at for beat in heartbeats],
                "offsets": [beat.offset_s for beat in heartbeats],
                "errors": [beat.error_s for beat in heartbeats],
            },
        )
