"""How each part of the service is: for people, load balancers and monitors, and without anything private."""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg
import redis
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext as _

from apps.core import (
    audit,
    backends,
    clock,
    holding,
    migrated,
    outage,
    queue,
    server_words,
    signs,
    space,
    starvation,
    writing,
)

# It may be days ago, or ahead.
_MOMENT = "%Y-%m-%d %H:%M:%S %Z"
# How long (s) the broker is waited for, in all.
_BROKER_S = 2.0
# What a run printed is read within seconds of its end, and within minutes where its team's waits for its turn (s).
_READ_WITHIN_S = 600.0
_FULL = gettext_noop("It does not answer, and its disk is full: it starts again when there is room.")
_ASKERS = ThreadPoolExecutor(4, thread_name_prefix="health")


@dataclass(frozen=True)
class HealthPart:
    """Whether a part works, since when it does or does not (None: not known), and what there is to say.

    One that `is_hindered` answers all the same.
    """

    is_ok: bool
    since: datetime | None
    what: str
    is_hindered: bool = False

    def as_json(self) -> dict[str, object]:
        """Return it as ``{"ok", "since", "what"}``; what a clock that was ahead has kept is not known."""
        since = clock.past(self.since) if self.since else None
        return {"ok": self.is_ok, "since": since.isoformat() if since else None, "what": self.what}


def parts() -> dict[str, HealthPart]:
    """Return {part: how it is}: database, migrations, broker, workers, timetable, readings, clock, logs."""
    # Each waits for who is silent as long as it may: side by side they do so once.
    asked = _ASKERS.submit(_ask_broker)
    until = time.monotonic() + _BROKER_S
    database = _database()
    broker, all_signs = _broker(asked, until)
    return {
        "database": database,
        "migrations": _migrations(),
        "broker": broker,
        "workers": _unknown(broker) if all_signs is None else _workers(all_signs),
        "timetable": _unknown(broker) if all_signs is None else _timetable(all_signs),
        "readings": _unknown(broker) if all_signs is None else _readings(),
        "clock": _clock(),
        "logs": _logs(),
    }


def _database() -> HealthPart:
    if outage.watch.away_since is not None:
        held = holding.held()
        return HealthPart(False, outage.watch.away_since, held.words() if held else _silent_database())
    starved_since = starvation.of_process.since(longer_than_s=starvation.TOLD_AFTER_S)
    if starved_since is not None:
        return HealthPart(False, starved_since, _("It answers, but this web process gets no connection to it."))
    try:
        state = backends.look()
    except Exception as error:
        if not outage.is_unavailability(error):
            raise
        outage.watch.note(error)
        if isinstance(error, psycopg.OperationalError) and server_words.shuts_down(error):
            return HealthPart(False, timezone.now(), _("It is shutting down: work goes on when it is back."))
        return HealthPart(False, timezone.now(), _silent_database())
    if full_since := writing.full_since(looks=True):
        what = _("Its disk is full: nothing is written since %(since)s. Work goes on when there is room.")
        return HealthPart(False, full_since, what % {"since": f"{full_since:{_MOMENT}}"}, is_hindered=True)
    if state.waiting:
        what = _("It answers, but requests wait for what another holds locked: %(tables)s.")
        tables = ", ".join(state.tables) or "–"
        return HealthPart(False, timezone.now() - state.longest_wait, what % {"tables": tables}, is_hindered=True)
    if state.is_slow:
        what = _(
            "It answers, but slowly: the least statement takes %(seconds)s s. Look at the load of its machine and"
            " disks, and at what runs long in it (pg_stat_activity)."
        ) % {"seconds": round(state.took_s, 1)}
        return HealthPart(False, timezone.now() - timedelta(seconds=state.took_s), what, is_hindered=True)
    if state.is_piling_up:
        what = _(
            "It answers, but statements of %(count)s requests run for long. Look at the load of its machine and"
            " disks, and at what runs long in it (pg_stat_activity)."
        )
        return HealthPart(False, timezone.now(), what % {"count": state.lasting}, is_hindered=True)
    if deaf_since := starvation.heard.since(longer_than_s=starvation.TOLD_AFTER_S):
        what = _("It answers, but this web process cannot write in it when agents were heard: nothing is measured.")
        return HealthPart(False, deaf_since, what, is_hindered=True)
    return HealthPart(True, state.started, _("It answers."))


def _silent_database() -> str:
    """Return what is known of a database that does not answer: the embedded one ends where its disk is full."""
    is_near = str(settings.DATABASES["default"].get("HOST", "")).startswith("/")
    return gettext(_FULL) if is_near and space.embedded_lacks_room("postgres/cluster") else _("It does not answer.")


def _migrations() -> HealthPart:
    held, away_since = holding.held(), outage.watch.away_since
    if held is not None:
        return HealthPart(False, away_since, held.words())
    try:
        outage.watch.refuse()
        look = migrated.look()
    except (outage.Outage, psycopg.OperationalError):
        return HealthPart(False, away_since, _("Not known while the database is away."))
    if look.gap is None:
        return HealthPart(True, look.since.at(), _("All are applied, and this is the code for them."))
    return HealthPart(False, look.since.at(), look.gap.words())


def _ask_broker() -> tuple[float, list[signs.Sign], str | None]:
    """Return since when it runs, the signs given there, and why it takes nothing; RedisError if it is away."""
    return signs.broker_started(), signs.given(), outage.trouble_of_broker()


def _broker(
    asked: Future[tuple[float, list[signs.Sign], str | None]], until: float
) -> tuple[HealthPart, list[signs.Sign] | None]:
    """Return how the broker is, and the signs given there; without them if it is away, or takes none.

    It has until a time of the monotonic clock.
    """
    try:
        started, all_signs, words = asked.result(timeout=max(0.0, until - time.monotonic()))
    except (redis.RedisError, TimeoutError) as error:
        asked.cancel()
        since = outage.broker_watch.begin(outage.words_of(error))
        is_full = settings.REDIS_URL.startswith("unix:") and space.embedded_lacks_room("valkey")
        silent = gettext(_FULL) if is_full else _("It does not answer: work goes on when it is back.")
        return HealthPart(False, since, silent), None
    if words is None:
        return HealthPart(True, _time(started), _("It answers.")), all_signs
    what = _("It takes no work, and says: %(words)s. Work goes on when it does again.")
    return HealthPart(
        False, outage.broker_watch.begin(words), what % {"words": words.rstrip(".")}, is_hindered=True
    ), None


def _unknown(broker: HealthPart) -> HealthPart:
    if broker.is_hindered:
        return HealthPart(False, broker.since, _("Not known while the broker takes no work."))
    return HealthPart(False, broker.since, _("Not known while the broker is away."))


def _clock() -> HealthPart:
    last, ahead = clock.wall.set_back(), clock.wall.set_ahead()
    if last is None and ahead is not None:
        what = _("The server's clock was set ahead by %(seconds)s s: nothing is removed for good for an hour.")
        return HealthPart(False, ahead.at, what % {"seconds": round(ahead.by.total_seconds())}, is_hindered=True)
    if last is None:
        return HealthPart(True, clock.wall.begun.at(), _("It goes on evenly."))
    what = _("The server's clock was set back by %(seconds)s s: times until %(until)s come twice.")
    return HealthPart(
        False, last.at, what % {"seconds": round(last.by.total_seconds()), "until": f"{last.until:{_MOMENT}}"}
    )


def _logs() -> HealthPart:
    failing = audit.unwritten()
    if not failing:
        return HealthPart(True, clock.wall.begun.at(), _("They are written."))
    what = _("Lines are left out of: %(names)s. Look at the disk of the service's logs, and whose they are.")
    return HealthPart(False, min(failing.values()), what % {"names": ", ".join(failing)}, is_hindered=True)


def _workers(all_signs: list[signs.Sign]) -> HealthPart:
    workers = [sign for sign in all_signs if sign.part != signs.TIMETABLE]
    silent = [sign for sign in workers if sign.is_silent]
    if not workers:
        return HealthPart(False, None, _("No worker gives a sign of life."))
    if silent:
        what = _("No sign of life from: %(names)s.") % {"names": _names(silent)}
        return HealthPart(False, _time(min(sign.at for sign in silent)), what)
    if hung_since := [sign.hung_since for sign in workers if sign.hung_since is not None]:
        what = _("A process hangs in: %(names)s. It is ended, and its work taken up again.")
        names = _names([sign for sign in workers if sign.hung_since is not None])
        return HealthPart(False, _time(min(hung_since)), what % {"names": names})
    unserved = [words for name, words in _queues() if not any(name in sign.queues for sign in workers)]
    if unserved:
        what = _("No worker is there for: %(work)s. At work: %(names)s.")
        return HealthPart(False, None, what % {"work": ", ".join(unserved), "names": _names(workers)})
    what = _("At work: %(names)s.") % {"names": _names(workers)}
    return HealthPart(True, _time(max(sign.since for sign in workers)), what)


def _queues() -> list[tuple[str, str]]:
    """Return each queue that has to be looked after, and what waits in it."""
    return [
        (queue.CLOCK, _("looks of the timetable (queue clock)")),
        (queue.SHORT, _("steps of measurements (queue celery)")),
        (queue.LONG, _("reports, imports and other long work (queue long)")),
    ]


def _timetable(all_signs: list[signs.Sign]) -> HealthPart:
    clocks = [sign for sign in all_signs if sign.part == signs.TIMETABLE]
    if not clocks:
        return HealthPart(False, None, _("The timetable gives no sign of life."))
    if all(sign.is_silent for sign in clocks):
        return HealthPart(False, _time(max(sign.at for sign in clocks)), _("The timetable gives no sign of life."))
    last = max((sign.turn_at for sign in all_signs if sign.turn_at is not None), default=None)
    now = clocks[0].at + clocks[0].age_s
    if last is None or now - last > signs.SILENT_AFTER_S:
        return HealthPart(False, None if last is None else _time(last), _("It runs, but no worker takes its turns."))
    try:
        late = signs.late_parts()
    except redis.RedisError:
        return HealthPart(False, None, _("Not known while the broker is away."))
    if late:
        what = _("Its turns are taken, but this has not come to an end since %(since)s: %(names)s.")
        since = _time(min(late.values()))
        names = ", ".join(sorted(late))
        return HealthPart(False, since, what % {"since": f"{since:{_MOMENT}}", "names": names}, is_hindered=True)
    return HealthPart(True, _time(max(sign.since for sign in clocks)), _("Its turns are taken."))


def _readings() -> HealthPart:
    try:
        count, since = signs.unread()
    except redis.RedisError:
        return HealthPart(False, None, _("Not known while the broker is away."))
    if not count:
        return HealthPart(True, _time(since), _("What ended runs printed is read."))
    what = ngettext(
        "%(count)s ended run waits to be read, since %(since)s.",
        "%(count)s ended runs wait to be read, the longest since %(since)s.",
        count,
    ) % {"count": count, "since": f"{_time(since):{_MOMENT}}"}
    return HealthPart((timezone.now() - _time(since)).total_seconds() <= _READ_WITHIN_S, _time(since), what)


def _names(some_signs: list[signs.Sign]) -> str:
    return ", ".join(sorted({sign.part for sign in some_signs}))


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
