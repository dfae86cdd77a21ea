"""Signs of life that workers and the timetable give at the broker, for whoever asks how the service is."""

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench import strict_json
from apps.core import broker

# Whoever gave none for so long does not work; after the second time, or where a clock that was ahead wrote it, it is
# taken for removed (s).
SILENT_AFTER_S = 15.0
FORGOTTEN_AFTER_S = 3600.0
TIMETABLE = "beat"
_KEY = "fathom.signs"
_PROBE = "fathom.probe"
_TIMEOUT_S = 1.0
# Since when the database's disk is full, as long as somebody meets it; and that somebody met it a moment ago.
_FULL, _REFUSED = "fathom.disk-full", "fathom.disk-refused"
_FULL_FOR_S, _REFUSED_FOR_S = 60, 5
# What the database was migrated to when a process last looked, for who has no connection to it.
_STEPS = "fathom.steps"
_UNREAD = "fathom.unread"
# When each part of the timetable was looked at last, and when it ended last: a part that others are at has not.
_LOOKED_AT, _ENDED = "fathom.parts-looked-at", "fathom.parts-ended"
# One that has not ended for so long, though it is looked at, is late (s).
LATE_AFTER_S = 60.0


@dataclass(frozen=True)
class Sign:
    """Who gave it (name@host), when, since when it runs, and when it last took a turn of the timetable (s, epoch).

    `queues` are those that it looks after, `hung_since` is since when one of its processes hangs.
    Times are of the broker's clock, in which `age_s` is how long ago it was given.
    """

    name: str
    at: float
    since: float
    turn_at: float | None
    queues: tuple[str, ...]
    hung_since: float | None
    age_s: float

    @property
    def part(self) -> str:
        """Return the name without its host."""
        return self.name.partition("@")[0]

    @property
    def is_silent(self) -> bool:
        """Return whether it should have given another by now, also if the broker's clock was set back since."""
        return not -SILENT_AFTER_S <= self.age_s <= SILENT_AFTER_S


def give(
    name: str,
    *,
    running_s: float,
    turn_ago_s: float | None,
    queues: Sequence[str] = (),
    hung_s: float | None = None,
) -> None:
    """Say that `name` lives, for how long, and how long ago it took a turn of the timetable; RedisError if away.

    `hung_s` is for how long one of its processes has hung.
    """
    now = _now()
    turn_at, hung_since = (None if ago_s is None else now - ago_s for ago_s in (turn_ago_s, hung_s))
    times = {"at": now, "since": now - running_s, "turn_at": turn_at, "hung_since": hung_since}
    sign = {**times, "queues": list(queues)}
    _client().hset(_KEY, name, strict_json.dumps(sign))


def withdraw(name: str) -> None:
    """Say that `name` ended as it should; RedisError if the broker is away."""
    _client().hdel(_KEY, name)


def given() -> list[Sign]:
    """Return the last sign of each, by name; RedisError if the broker is away."""
    now = _now()
    signs = []
    for name, text in sorted(_client().hgetall(_KEY).items()):
        stored = json.loads(text)
        # A worker of the version before says nothing of its queues and processes.
        times, queues = (stored["at"], stored["since"], stored["turn_at"]), tuple(stored.get("queues", ()))
        sign = Sign(name.decode(), *times, queues, stored.get("hung_since"), now - stored["at"])
        if abs(sign.age_s) > FORGOTTEN_AFTER_S:
            _client().hdel(_KEY, name)
        else:
            signs.append(sign)
    return signs


def probe() -> None:
    """Write something small: who only answers may still refuse what is given to it; RedisError if it cannot be."""
    _client().set(_PROBE, 1, ex=60)


def note_full(*, was_refused: bool) -> bool:
    """Note that the database's disk is full, which is forgotten unless it is noted again; RedisError if away.

    `was_refused` says that something could not be written, and not only that a look found no room. Return whether it
    was not known.
    """
    pipe = _client().pipeline()
    pipe.set(_FULL, _now(), nx=True).expire(_FULL, _FULL_FOR_S)
    if was_refused:
        pipe.set(_REFUSED, _now(), ex=_REFUSED_FOR_S)
    return bool(pipe.execute()[0])


def full_since() -> tuple[float | None, bool]:
    """Return since when the database's disk is full (s, epoch), None if nobody says so, and if it just refused.

    RedisError if the broker is away.
    """
    since, refused = _client().mget(_FULL, _REFUSED)
    # What a broker keeps whose clock was ahead, it keeps for as long.
    was_refused = refused is not None and abs(_now() - float(refused)) <= _REFUSED_FOR_S
    return None if since is None else float(since), was_refused


def note_room() -> bool:
    """Note that the database's disk has room again; return whether it was known to be full. RedisError if away."""
    return bool(_client().delete(_FULL))


def note_steps(steps: Iterable[tuple[str, str]]) -> None:
    """Keep what the database was migrated to, as (app, name); RedisError if the broker is away."""
    _client().set(_STEPS, strict_json.dumps(sorted(steps)))


def note_unread(count: int, longest_s: float) -> None:
    """Keep how many ended runs wait to be read, and the longest for how long (s); RedisError if away."""
    unread = {"count": count, "since": _now() - longest_s}
    _client().set(_UNREAD, strict_json.dumps(unread), ex=60)


def unread() -> tuple[int, float]:
    """Return how many ended runs wait to be read, and since when (s, epoch), as last noted; RedisError if away."""
    noted = json.loads(_client().get(_UNREAD) or '{"count": 0, "since": 0}')
    return noted["count"], noted["since"] or _now()


def note_parts(looks: Mapping[str, bool]) -> None:
    """Keep of each part of the timetable that it was looked at now, and whether it ended; RedisError if away."""
    now, pipe = _now(), _client().pipeline()
    pipe.hset(_LOOKED_AT, mapping=dict.fromkeys(looks, now))
    for name, has_ended in looks.items():
        (pipe.hset if has_ended else pipe.hsetnx)(_ENDED, name, now)
    pipe.execute()


def late_parts() -> dict[str, float]:
    """Return {part of the timetable that is late: since when it has not ended (s, epoch)}; RedisError if away.

    What nobody looked at for an hour is no part any more.
    """
    now, ended = _now(), _client().hgetall(_ENDED)
    looked_at = {name: float(at) for name, at in _client().hgetall(_LOOKED_AT).items()}
    return {
        name.decode(): float(ended[name])
        for name, at in looked_at.items()
        if name in ended and at - float(ended[name]) > LATE_AFTER_S and now - at < FORGOTTEN_AFTER_S
    }


def noted_steps() -> frozenset[tuple[str, str]] | None:
    """Return what the database was migrated to at the last note, None without one; RedisError if away."""
    text = _client().get(_STEPS)
    return None if text is None else frozenset((app, name) for app, name in json.loads(text))


def waiting_in(queues: list[str]) -> int:
    """Return how many messages wait in queues; RedisError if the broker is away."""
    return sum(int(_client().llen(queue)) for queue in queues)


def broker_started() -> float:
    """Return when the broker started (s, epoch, of its clock); RedisError if it is away."""
    return _now() - float(_client().info("server")["uptime_in_seconds"])


@functools.cache
def _client() -> Any:
    # Its types are those of the asynchronous client, too.
    return broker.client(timeout_s=_TIMEOUT_S)


def _now() -> float:
    seconds, microseconds = _client().time()
    return float(seconds) + float(microseconds) / 1e6
