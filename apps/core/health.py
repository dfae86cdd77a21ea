"""How each part of the service is: for people, load balancers and monitors, and without anything private."""

from dataclasses import dataclass
from datetime import UTC, datetime

import redis
from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.core import outage, signs

# Since when the broker was found away, in this process.
_broker_away_since: datetime | None = None


@dataclass(frozen=True)
class Part:
    """Whether a part works, since when it does or does not (None: not known), and what there is to say."""

    is_ok: bool
    since: datetime | None
    what: str

    def as_json(self) -> dict[str, object]:
        """Return it as ``{"ok", "since", "what"}``."""
        return {"ok": self.is_ok, "since": self.since.isoformat() if self.since else None, "what": self.what}


def parts() -> dict[str, Part]:
    """Return {part: how it is}: database, broker, workers, timetable."""
    try:
        given = signs.given()
        broker = _broker_there()
    except redis.RedisError:
        given, broker = None, _broker_away()
    return {
        "database": _database(),
        "broker": broker,
        "workers": _unknown() if given is None else _workers(given),
        "timetable": _unknown() if given is None else _timetable(given),
    }


def _database() -> Part:
    if outage.watch.away_since is not None:
        return Part(False, outage.watch.away_since, _("It does not answer."))
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_postmaster_start_time()")
            return Part(True, cursor.fetchone()[0], _("It answers."))
    except Exception as error:
        if not outage.is_unavailability(error):
            raise
        outage.watch.note(error)
        return Part(False, timezone.now(), _("It does not answer."))


def _broker_there() -> Part:
    global _broker_away_since
    _broker_away_since = None
    return Part(True, _time(signs.broker_started()), _("It answers."))


def _broker_away() -> Part:
    global _broker_away_since
    _broker_away_since = _broker_away_since or timezone.now()
    return Part(False, _broker_away_since, _("It does not answer: work goes on when it is back."))


def _unknown() -> Part:
    return Part(False, _broker_away_since, _("Not known while the broker is away."))


def _workers(given: list[signs.Sign]) -> Part:
    workers = [sign for sign in given if sign.part != signs.TIMETABLE]
    silent = [sign for sign in workers if sign.is_silent]
    if not workers:
        return Part(False, None, _("No worker gives a sign of life."))
    if silent:
        what = _("No sign of life from: %(names)s.") % {"names": _names(silent)}
        return Part(False, _time(min(sign.at for sign in silent)), what)
    what = _("At work: %(names)s.") % {"names": _names(workers)}
    return Part(True, _time(max(sign.since for sign in workers)), what)


def _timetable(given: list[signs.Sign]) -> Part:
    clocks = [sign for sign in given if sign.part == signs.TIMETABLE]
    if not clocks:
        return Part(False, None, _("The timetable gives no sign of life."))
    if all(sign.is_silent for sign in clocks):
        return Part(False, _time(max(sign.at for sign in clocks)), _("The timetable gives no sign of life."))
    last = max((sign.turn_at for sign in given if sign.turn_at is not None), default=None)
    now = clocks[0].at + clocks[0].age_s
    if last is None or now - last > signs.SILENT_AFTER_S:
        return Part(False, None if last is None else _time(last), _("It runs, but no worker takes its turns."))
    return Part(True, _time(max(sign.since for sign in clocks)), _("Its turns are taken."))


def _names(given: list[signs.Sign]) -> str:
    return ", ".join(sorted({sign.part for sign in given}))


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
