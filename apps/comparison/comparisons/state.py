"""All that a comparison's page shows, as the query of its address."""

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import TooManyFieldsSent
from django.http import QueryDict

from apps.bench.comparison import Statistic
from apps.bench.text import Message, _
from apps.comparison.comparisons.sets import ResultSet, SetError, read_set
from apps.results.addresses import unknown_names

# As many as there are colours to tell them apart.
MOST_SETS = 6
CHARTS = ("line", "box", "heat", "parallel")
_SWITCHES = ("points", "ratio", "invalid")
_LOGS = ("auto", "yes", "no")
_TEXTS = {"metric": "metric", "x": "axis", "by": "series"}
NAMES = ("set", *_TEXTS, "fix", "stat", "base", "chart", "log_x", "log_y", *_SWITCHES, "page")


@dataclass(frozen=True)
class ComparisonState:
    """What is compared and how it is shown; "" leaves a choice to what the results suggest.

    `axis` and `series` name factors, `fixed` {factor: text of its value}. The baseline is a set, by its place, at the
    value of the axis or of the series in `base_axis` and `base_series`, where these are given.
    """

    sets: tuple[ResultSet, ...] = ()
    metric: str = ""
    axis: str = ""
    series: str = ""
    fixed: tuple[tuple[str, str], ...] = field(default=())
    statistic: Statistic = Statistic.MEAN
    chart: str = "line"
    baseline: int = 0
    base_axis: str | None = None
    base_series: str | None = None
    log_x: str = "auto"
    log_y: str = "no"
    points: bool = False
    ratio: bool = False
    invalid: bool = False

    def as_query(self) -> str:
        """Return the query of the address; what is as usual is left out."""
        pairs: list[tuple[str, str]] = [("set", result_set.as_text()) for result_set in self.sets]
        pairs += [(key, getattr(self, name)) for key, name in _TEXTS.items() if getattr(self, name)]
        pairs += [("fix", f"{name}:{value}") for name, value in self.fixed]
        usual = ComparisonState()
        if self.statistic is not usual.statistic:
            pairs.append(("stat", self.statistic.value))
        for name in ("base", "chart", "log_x", "log_y"):
            if getattr(self, name) != getattr(usual, name):
                pairs.append((name, getattr(self, name)))
        pairs += [(name, "yes") for name in _SWITCHES if getattr(self, name)]
        return urlencode(pairs)

    @property
    def base(self) -> str:
        """Return the baseline as the address names it: set:0, x:65536 or by:4."""
        if self.base_axis is not None:
            return f"x:{self.base_axis}"
        return f"by:{self.base_series}" if self.base_series is not None else f"set:{self.baseline}"

    def fixed_value(self, name: str) -> str | None:
        """Return the text of the value that a factor is fixed at, None if it is not."""
        return dict(self.fixed).get(name)

    def with_set(self, result_set: ResultSet) -> "ComparisonState":
        """Return the state with one more set."""
        return replace(self, sets=(*self.sets, result_set))

    def without_set(self, place: int) -> "ComparisonState":
        """Return the state without a set; the baseline stays the same set, else it is the first."""
        base = 0 if self.baseline == place else self.baseline - (self.baseline > place)
        return replace(self, sets=self.sets[:place] + self.sets[place + 1 :], baseline=base)


def read_state(query: QueryDict) -> tuple[ComparisonState, dict[str, list[Message]]]:
    """Return the state that a query means, and what of it could not be read: {field: messages}.

    What cannot be read is left out, so that a page can show the rest.
    """
    errors: dict[str, list[Message]] = {}
    values: dict[str, Any] = {
        "sets": _sets(query.getlist("set"), errors),
        **{name: query.get(key, "").replace("\0", "") for key, name in _TEXTS.items() if key in query},
        "fixed": tuple(_fixed(query.getlist("fix"), errors)),
        **_baseline(query.get("base", "").replace("\0", ""), errors),
        "statistic": Statistic(_choice(query, "stat", tuple(item.value for item in Statistic), errors)),
        "chart": _choice(query, "chart", CHARTS, errors),
        "log_x": _choice(query, "log_x", _LOGS, errors),
        "log_y": _choice(query, "log_y", _LOGS, errors, usual="no"),
        **{name: query.get(name, "") in ("yes", "on", "true", "1") for name in _SWITCHES},
    }
    if values["baseline"] >= max(1, len(values["sets"])):
        text = _("There is no set %(place)s: the baseline is one of the sets, counted from 0.")
        errors.setdefault("base", []).append(Message(text, {"place": values["baseline"]}))
        values["baseline"] = 0
    return ComparisonState(**values), errors


def read_text(text: str) -> tuple[ComparisonState, dict[str, list[Message]]]:
    """Return the same of a query written as text."""
    try:
        query = QueryDict(text.removeprefix("?"))
    except (TooManyFieldsSent, UnicodeError):
        return ComparisonState(), {"query": [Message(_("This is no address of a comparison."))]}
    state, errors = read_state(query)
    return state, errors | unknown_names(query, NAMES)


def _sets(texts: list[str], errors: dict[str, list[Message]]) -> tuple[ResultSet, ...]:
    result_sets: list[ResultSet] = []
    for place, text in enumerate(filter(str.strip, texts)):
        if len(result_sets) == MOST_SETS:
            message = Message(_("At most %(most)s sets are compared at once."), {"most": MOST_SETS})
            errors.setdefault("set", []).append(message)
            break
        try:
            result_sets.append(read_set(text))
        except SetError as error:
            errors.setdefault(f"set.{place}", []).append(error.message)
    return tuple(result_sets)


def _fixed(texts: list[str], errors: dict[str, list[Message]]) -> list[tuple[str, str]]:
    values = {}
    for text in texts:
        name, colon, value = text.replace("\0", "").partition(":")
        # A form sends its empty choices, too.
        if not text or (colon and value == "*"):
            continue
        if not colon or not name:
            message = Message(_("Write a factor and its value, for example %(form)s."), {"form": "streams:4"})
            errors.setdefault("fix", []).append(message)
            continue
        values[name] = value
    return list(values.items())


def _baseline(text: str, errors: dict[str, list[Message]]) -> dict[str, Any]:
    """Return which set is the baseline, or the value of the axis or of the series that is one in each set."""
    kind, colon, value = text.partition(":")
    if colon and kind in ("x", "by"):
        return {"baseline": 0, "base_axis" if kind == "x" else "base_series": value}
    place = value if colon and kind == "set" else text
    if place.isascii() and place.isdigit() and len(place) < 3:
        return {"baseline": int(place)}
    if text:
        message = Message(_("Write the baseline as %(forms)s."), {"forms": "set:0, x:65536, by:4"})
        errors.setdefault("base", []).append(message)
    return {"baseline": 0}


def _choice(
    query: QueryDict, key: str, choices: tuple[str, ...], errors: dict[str, list[Message]], usual: str = ""
) -> str:
    value = query.get(key, "")
    if value and value not in choices:
        message = Message(_("Choose one of: %(choices)s."), {"choices": ", ".join(choices)})
        errors.setdefault(key, []).append(message)
        value = ""
    return value or usual or choices[0]
