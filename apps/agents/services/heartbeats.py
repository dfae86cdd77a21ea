"""Heartbeats: when each agent was heard last, written for many at once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from apps.agents.models import DEAF_AFTER, Agent
from apps.core import clock

# A time that lies ahead was written before the clock was set back: the listening begins anew, or nobody would be
# missed until the clock has come so far again.
_LISTEN = """
    INSERT INTO agents_listener AS listener (id, listening_since, heard_until) VALUES (1, %(now)s, %(now)s)
    ON CONFLICT (id) DO UPDATE
       SET heard_until = CASE WHEN listener.heard_until > %(ahead)s
                              THEN EXCLUDED.heard_until
                              ELSE GREATEST(listener.heard_until, EXCLUDED.heard_until) END,
           listening_since = CASE WHEN listener.heard_until NOT BETWEEN %(deaf_since)s AND %(ahead)s
                                  THEN EXCLUDED.listening_since ELSE listener.listening_since END
    RETURNING listening_since = %(now)s
"""
_HEAR = """
    UPDATE agents_agent AS agent
       SET last_seen_at = GREATEST(COALESCE(agent.last_seen_at, heard.at), heard.at),
           clock_offset_s = COALESCE(heard.offset_s, agent.clock_offset_s),
           clock_error_s = COALESCE(heard.error_s, agent.clock_error_s),
           unsent_since = CASE WHEN heard.tells_unsent THEN heard.unsent_since ELSE agent.unsent_since END
      FROM unnest(%(ids)s::bigint[], %(times)s::timestamptz[], %(offsets)s::float8[], %(errors)s::float8[],
                  %(tell_unsent)s::bool[], %(unsent)s::timestamptz[])
           AS heard(id, at, offset_s, error_s, tells_unsent, unsent_since)
     WHERE agent.id = heard.id AND agent.retired_at IS NULL
"""


@dataclass(frozen=True)
class Unsent:
    """Since when an agent has had a report that it could not send, the oldest of those; None if it has none."""

    since: datetime | None


@dataclass(frozen=True)
class Heartbeat:
    """The last that was heard of an agent: when, its clock's offset to ours (s) with its uncertainty, what is unsent.

    `unsent` is None where the agent did not say.
    """

    agent_id: int
    at: datetime
    offset_s: float | None = None
    error_s: float | None = None
    unsent: Unsent | None = None


def record_heartbeats(*, heartbeats: Collection[Heartbeat], now: datetime) -> None:
    """Write that somebody listens and, in one statement, when agents were last heard."""
    with connection.cursor() as cursor:
        cursor.execute(_LISTEN, {"now": now, "deaf_since": now - DEAF_AFTER, "ahead": now + clock.AHEAD})
        begins = cursor.fetchone()[0]
    if begins:
        # Heard before the clock was set back: their silence counts from now, as everybody's does.
        Agent.objects.filter(last_seen_at__gt=now + clock.AHEAD).update(last_seen_at=now)
    if heartbeats:
        _record_all(sorted(heartbeats, key=lambda beat: beat.agent_id), now)


@transaction.atomic
def _record_all(heartbeats: Sequence[Heartbeat], now: datetime) -> None:
    ids = [beat.agent_id for beat in heartbeats]
    # Taken in one order, rows cannot have two processes wait for each other.
    list(Agent.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk").values_list("pk"))
    with connection.cursor() as cursor:
        cursor.execute(
            _HEAR,
            {
                "ids": ids,
                "times": [min(beat.at, now) for beat in heartbeats],
                "offsets": [beat.offset_s for beat in heartbeats],
                "errors": [beat.error_s for beat in heartbeats],
                "tell_unsent": [beat.unsent is not None for beat in heartbeats],
                "unsent": [beat.unsent.since if beat.unsent else None for beat in heartbeats],
            },
        )
