"""Heartbeats: when each agent was heard last, written for many at once."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import connection

from apps.agents.models import DEAF_AFTER, LOST_AFTER, Agent, LateHeartbeat
from apps.core import clock

# A time that lies ahead was written before the clock was set back: the listening begins anew, or nobody would be
# missed until the clock has come so far again.
_LISTEN = """
    INSERT INTO agents_listener AS listener (id, listening_since, heard_until, threshold)
    VALUES (1, %(now)s, %(now)s, %(lost)s)
    ON CONFLICT (id) DO UPDATE
       SET heard_until = CASE WHEN listener.heard_until > %(ahead)s
                              THEN EXCLUDED.heard_until
                              ELSE GREATEST(listener.heard_until, EXCLUDED.heard_until) END,
           threshold = CASE WHEN listener.heard_until BETWEEN %(deaf_since)s AND %(ahead)s
                                 AND listener.listening_since <= %(lost)s THEN %(lost)s
                            ELSE LEAST(%(lost)s, COALESCE(listener.threshold, listener.heard_until - %(lost_after)s)
                                       + CASE WHEN listener.heard_until BETWEEN %(deaf_since)s AND %(now)s
                                              THEN %(now)s - listener.heard_until ELSE interval '0' END) END,
           listening_since = CASE WHEN listener.heard_until NOT BETWEEN %(deaf_since)s AND %(ahead)s
                                  THEN EXCLUDED.listening_since ELSE listener.listening_since END
    RETURNING listening_since = %(now)s
"""
# One statement, and what others hold is left for the next: a session that hangs has the rows of none but whose it is
# at, and who comes after it waits for nobody.
_HEAR = """
    WITH free AS MATERIALIZED (
        SELECT id FROM agents_agent WHERE id = ANY(%(ids)s::bigint[]) FOR NO KEY UPDATE SKIP LOCKED
    ), written AS (
    UPDATE agents_agent AS agent
       SET last_seen_at = GREATEST(COALESCE(agent.last_seen_at, heard.at), heard.at),
           clock_offset_s = COALESCE(heard.offset_s, agent.clock_offset_s),
           clock_error_s = COALESCE(heard.error_s, agent.clock_error_s),
           unsent_since = CASE WHEN heard.tells_unsent THEN heard.unsent_since ELSE agent.unsent_since END
      FROM unnest(%(ids)s::bigint[], %(times)s::timestamptz[], %(offsets)s::float8[], %(errors)s::float8[],
                  %(tell_unsent)s::bool[], %(unsent)s::timestamptz[])
           AS heard(id, at, offset_s, error_s, tells_unsent, unsent_since)
      JOIN free USING (id)
     WHERE agent.id = heard.id AND agent.retired_at IS NULL
    ), gone AS (
        DELETE FROM agents_lateheartbeat WHERE agent_ref IN (SELECT id FROM free)
    ), late AS (
        INSERT INTO agents_lateheartbeat (agent_ref, at)
        SELECT agent.id, heard.at FROM agents_agent AS agent
          JOIN unnest(%(ids)s::bigint[], %(times)s::timestamptz[]) AS heard(id, at) USING (id)
         WHERE agent.id NOT IN (SELECT id FROM free)
        ON CONFLICT (agent_ref) DO UPDATE SET at = GREATEST(agents_lateheartbeat.at, EXCLUDED.at)
        RETURNING agent_ref
    )
    SELECT agent_ref FROM late
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

    def after(self, earlier: "Heartbeat | None") -> "Heartbeat":
        """Return it with what the agent said in an `earlier` one that is not written yet, and did not say again."""
        if earlier is None:
            return self
        offset = self if self.offset_s is not None else earlier
        return replace(self, offset_s=offset.offset_s, error_s=offset.error_s, unsent=self.unsent or earlier.unsent)


def record_heartbeats(*, heartbeats: Collection[Heartbeat], now: datetime) -> set[int]:
    """Write that somebody listens and, in one statement, when agents were last heard.

    Return those agents with which that is left to do, for others hold their rows.
    """
    with connection.cursor() as cursor:
        moments: dict[str, Any] = {"now": now, "deaf_since": now - DEAF_AFTER, "ahead": now + clock.AHEAD}
        moments |= {"lost_after": LOST_AFTER, "lost": now - LOST_AFTER}
        cursor.execute(_LISTEN, moments)
        begins = cursor.fetchone()[0]
    if begins:
        # Heard before the clock was set back: their silence counts from now, as everybody's does.
        Agent.objects.filter(last_seen_at__gt=now + clock.AHEAD).update(last_seen_at=now)
        LateHeartbeat.objects.all().delete()
    if not heartbeats:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            _HEAR,
            {
                "ids": [beat.agent_id for beat in heartbeats],
                "times": [min(beat.at, now) for beat in heartbeats],
                "offsets": [beat.offset_s for beat in heartbeats],
                "errors": [beat.error_s for beat in heartbeats],
                "tell_unsent": [beat.unsent is not None for beat in heartbeats],
                "unsent": [beat.unsent.since if beat.unsent else None for beat in heartbeats],
            },
        )
        return {pk for (pk,) in cursor.fetchall()}
