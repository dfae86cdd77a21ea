"""A set of results as a text of the address, such as ``campaign:12;since:2026-11-01;streams=4``, and back."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import quote, unquote

from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from apps.bench.text import Message, _
from apps.bench.toolkit import Value
from apps.core import figures, moments
from apps.results.addresses import text_of

_PART = re.compile(r"(?P<name>[\w.\-]+)(?P<sign>[:=])(?P<value>.*)", re.DOTALL)
_NUMBERS = ("campaign", "experiment", "cluster", "node", "site", "file-system")
_DATES = ("since", "until")
_WORDS = ("tool", "label")
# No id is larger than a column of the database.
_LARGEST_ID = 2**63 - 1
LONGEST = 1000


class SetError(ValueError):
    """A set that cannot be read; `message` says what is wrong and what to write, `field` where it was written."""

    field = "set"

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(str(message))


@dataclass(frozen=True)
class ResultSet:
    """What a set is made of: results for which all that is given holds.

    `numbers` {kind of thing: id} of campaign, experiment, cluster, node, site or file-system, `settings` {parameter:
    text of its value}; `since` counts, `until` no more. Of a cluster, node or site are results in which one of its
    nodes played a role.
    """

    numbers: tuple[tuple[str, int], ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    tool: str = ""
    label: str = ""
    settings: tuple[tuple[str, str], ...] = field(default=())

    def number(self, kind: str) -> int | None:
        """Return the id of a kind of thing, None if any will do."""
        return dict(self.numbers).get(kind)

    def as_text(self) -> str:
        """Return the text of the set as it stands in an address."""
        parts = [f"{kind}:{pk}" for kind, pk in self.numbers]
        parts += [f"tool:{_quoted(self.tool)}"] if self.tool else []
        parts += [
            f"{name}:{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
            for name, moment in (("since", self.since), ("until", self.until))
            if moment
        ]
        parts += [f"{name}={_quoted(value)}" for name, value in self.settings]
        parts += [f"label:{_quoted(self.label)}"] if self.label else []
        return ";".join(parts)

    def with_setting(self, name: str, value: str) -> "ResultSet":
        """Return the set narrowed to one value of a parameter."""
        others = tuple(pair for pair in self.settings if pair[0] != name)
        return replace(self, settings=(*others, (name, value)))


def read_set(text: str) -> ResultSet:
    """Return the set that a text means; SetError names what is wrong. Dates without a time are whole days."""
    if len(text) > LONGEST:
        raise SetError(Message(_("A set's text is longer than %(most)s characters."), {"most": LONGEST}))
    result_set = ResultSet()
    for part in filter(None, (part.strip() for part in text.split(";"))):
        match = _PART.fullmatch(part)
        if not match:
            form = "campaign:12;since:2026-11-01;streams=4"
            raise SetError(
                Message(_("“%(part)s” is no part of a set; write for example %(form)s."), _about(part, form=form))
            )
        name, value = match["name"], unquote(match["value"].strip()).replace("\0", "")
        result_set = result_set.with_setting(name, value) if match["sign"] == "=" else _with(result_set, name, value)
    if result_set == replace(ResultSet(), label=result_set.label):
        raise SetError(Message(_("A set needs something to choose by, for example campaign:12 or cluster:3.")))
    return result_set


def same(value: Value, text: str, typed: Iterable[Value] = ()) -> bool:
    """Say whether a parameter's value is the one that a text means; `typed` are what its tools read the text as."""
    return text_of(value) == text or any(value == other and type(value) is type(other) for other in typed)


def _with(result_set: ResultSet, name: str, value: str) -> ResultSet:
    if name in _NUMBERS:
        number = figures.whole(value)
        if number is None or number > _LARGEST_ID:
            raise SetError(Message(_("“%(part)s”: %(kind)s is chosen by its number."), _about(value, kind=name)))
        others = tuple(pair for pair in result_set.numbers if pair[0] != name)
        return replace(result_set, numbers=(*others, (name, number)))
    if name in _DATES:
        moment = _moment(value, is_end=name == "until")
        return replace(result_set, since=moment) if name == "since" else replace(result_set, until=moment)
    if name in _WORDS:
        return replace(result_set, tool=value) if name == "tool" else replace(result_set, label=value)
    kinds = ", ".join((*_NUMBERS, *_DATES, *_WORDS))
    text = _("A set knows no “%(part)s”; it knows %(kinds)s, and parameters such as streams=4.")
    raise SetError(Message(text, _about(name, kinds=kinds)))


def _moment(value: str, *, is_end: bool) -> datetime:
    """Return a moment; a date means its first moment, at the end of a period that of the next day."""
    try:
        instant = None
        if day := parse_date(value):
            instant = _midnight(day + timedelta(days=1) if is_end else day)
        elif moment := parse_datetime(value):
            instant = moment if timezone.is_aware(moment) else timezone.make_aware(moment)
        if instant and moments.is_reasonable(instant):
            return instant
    except (ValueError, OverflowError):
        pass
    raise SetError(Message(_("“%(part)s” is no date: write for example %(form)s."), _about(value, form="2026-11-21")))


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))


def _quoted(value: str) -> str:
    return quote(value, safe=" /,._-+()[]")


def _about(part: str, **more: str) -> dict[str, object]:
    return {"part": part[:80], **more}
