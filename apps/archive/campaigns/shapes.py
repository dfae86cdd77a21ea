"""What the JSON fields of an archive's rows may hold: one definition for each, asked as a row is read.

How long it may be the field itself says (`BoundedJSONField`): what else is asked here refuses nothing for its length.
"""

from collections.abc import Callable, Mapping
from typing import Any

from apps.agents.facts import WrongFactError, checked_facts
from apps.agents.models import FactSnapshot, Job
from apps.bench import shapes
from apps.bench.rules.base import FindingDraft, Proof, Ratio, Trend
from apps.bench.settings.catalogue import check_key
from apps.bench.sweep import setting_names
from apps.bench.text import problem_of
from apps.bench.toolkit import Flag, Plan, ToolFailure
from apps.campaigns.models import Campaign, Event, Experiment, Run, Trial
from apps.reports.models import Edition
from apps.results.models import Result
from apps.tuning.models import Decision, Finding, Verification

Check = Callable[[Any], bool]

_LONGEST_NAME = 200
_LONGEST_VALUE = 4096
_SEVERITIES = ("info", "warning", "invalid")


def _message(value: Any) -> bool:
    return not problem_of(value)


def _or_nothing(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _each(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def _values(check: Check) -> Check:
    return lambda value: (
        isinstance(value, Mapping) and all(_may_be_set(name) and check(of) for name, of in value.items())
    )


def _may_be_set(name: str) -> bool:
    """Return whether a name, if it is that of a kernel setting, is one that may be set."""
    _role, key = setting_names.role_and_key(name)
    return not setting_names.is_setting(name) or check_key(key) is None


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _value(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_text(item) for item in value)


def _written(parse: Callable[[Any], Any], also: Check = lambda _value: True) -> Check:
    """Return whether `parse`, which reads the stored form, takes a value."""

    def check(value: Any) -> bool:
        try:
            parse(value)
        except (KeyError, TypeError, ValueError, AttributeError):
            return False
        return also(value)

    return check


def _failure(value: Mapping[str, Any]) -> bool:
    return _name(value["code"]) and isinstance(value["retryable"], bool)


def _flag(value: Mapping[str, Any]) -> bool:
    return value["severity"] in _SEVERITIES and _name(value["name"]) and _each(_name)(value.get("metrics", []))


def _name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 60 and all(sign.isalnum() or sign in "_-" for sign in value)


def _facts(value: Any) -> bool:
    try:
        return bool(checked_facts(value) == value)
    except WrongFactError:
        return False


def _plan(value: Mapping[str, Any]) -> bool:
    stages = value["stages"]
    return isinstance(stages, list) and all(
        isinstance(stage["name"], str)
        and all(_each(_text)(command["argv"]) and isinstance(command["role"], str) for command in stage["commands"])
        for stage in stages
    )


def _factor(value: Any) -> bool:
    return _object(value) and _text(value.get("name")) and _text(value.get("expression"))


def _printed(value: Any) -> bool:
    if not _object(value):
        return False
    trends, ratios = value.get("trends", []), value.get("ratios", [])
    return _each(_trend)(trends) and _each(_ratio)(ratios)


def _trend(value: Any) -> bool:
    return _object(value) and value.keys() <= _members(Trend) and shapes.fits(Trend, value)


def _ratio(value: Any) -> bool:
    # Of one without an upper end `high` is null.
    if not _object(value) or not value.keys() <= _members(Ratio):
        return False
    sides = (value.get("of"), value.get("to"))
    return all(_values(_value)(side) for side in sides) and shapes.fits(
        Ratio, {**value, "high": value.get("low") if value.get("high") is None else value["high"]}
    )


def _members(kind: Any) -> set[str]:
    return set(kind.__dataclass_fields__)


def _publication(value: Any) -> bool:
    if not _object(value):
        return False
    texts = all(_text(value.get(name, "")) for name in ("case", "conclusion", "note", "digest"))
    path = value.get("path") or {}
    return (
        texts
        and _object(path)
        and all(item is None or shapes.fits(float, item) for item in path.values())
        and _each(_message)(value.get("remarks", []))
    )


def _details(value: Any) -> bool:
    """Return whether these are a finding as a rule stores it; its evidence are the places of trials here."""
    if not _object(value) or not isinstance(value.get("evidence"), list):
        return False
    label = value.get("confidence_label", "")
    return (
        isinstance(label, str)
        and len(label) <= _LONGEST_NAME
        and shapes.fits(FindingDraft, {**value, "evidence": []})
    )


def _proof(value: Any) -> bool:
    settings = _values(_value)
    return value == {} or (shapes.fits(Proof, value) and settings(value["now"]) and settings(value["then"]))


CHECKS: Mapping[tuple[Any, str], Check] = {
    (Campaign, "publication"): _publication,
    (Experiment, "fixed"): _values(_text),
    (Experiment, "resolved"): _values(_text),
    (Experiment, "factors"): _each(_factor),
    (Experiment, "zips"): _each(_each(_text)),
    (Experiment, "exclusions"): _each(_text),
    (Experiment, "printed"): _printed,
    (Experiment, "refusal"): _or_nothing(_message),
    (Trial, "parameters"): _values(_value),
    (Trial, "reason"): _or_nothing(_written(ToolFailure.from_json, _failure)),
    (Run, "plan"): _or_nothing(_written(Plan.from_json, _plan)),
    (Run, "reason"): _or_nothing(_written(ToolFailure.from_json, _failure)),
    (Job, "files"): _each(_pair),
    (Job, "environment"): _each(_pair),
    (FactSnapshot, "facts"): _facts,
    (Result, "requested"): _object,
    (Result, "granted"): _object,
    (Result, "observed"): _object,
    (Result, "flags"): _each(_written(Flag.from_json, _flag)),
    (Event, "message"): _message,
    (Finding, "title"): _message,
    (Finding, "details"): _details,
    (Decision, "note"): _or_nothing(_message),
    (Verification, "proof"): _proof,
    (Edition, "rests_on"): _each(_text),
}


def has_shape(model: Any, name: str, value: Any) -> bool:
    """Return whether a JSON field of a row may hold a value; KeyError of a field that nothing is said of."""
    return CHECKS[model, name](value)
