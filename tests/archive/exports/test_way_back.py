"""Whatever the service writes of a campaign, however large that is, it takes again from its own archive."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone

from apps.agents.models import FactSnapshot, Job, JobFile, JobOutput
from apps.archive.campaigns import fields
from apps.archive.campaigns.writer import archive_of
from apps.bench import bounds, tools
from apps.bench.rules.base import FindingDraft
from apps.bench.text import Message
from apps.bench.toolkit import Command, Flag, Plan, Reading, Stage, ToolFailure
from apps.campaigns import checks, errors
from apps.campaigns.models import Campaign, Event, Experiment, Run, Trial
from apps.campaigns.models.annotations import Note
from apps.campaigns.services import stages
from apps.core.bounded import too_long
from apps.core.models import BoundedArrayField, BoundedJSONField, BoundedTextField
from apps.reports import services as reports
from apps.reports.models import Edition, Report
from apps.results.models import Result, Series, StageTiming, Superseded
from apps.tuning.models import Decision, Finding, Verification
from apps.tuning.services import findings
from tests import rewriting
from tests.archive.exports.test_archives import came_in
from tests.reports import documents
from workers import plans

EXPORTED = (
    (Campaign, fields.CAMPAIGN), (Note, fields.NOTE), (Experiment, fields.EXPERIMENT), (Trial, fields.TRIAL),
    (Run, fields.RUN), (StageTiming, fields.TIMING), (Job, fields.JOB), (JobOutput, fields.OUTPUT),
    (JobFile, fields.COLLECTED), (FactSnapshot, fields.FACTS), (Result, fields.RESULT),
    (Superseded, fields.SUPERSEDED), (Series, fields.SERIES), (Event, fields.EVENT), (Finding, fields.FINDING),
    (Decision, fields.DECISION), (Verification, fields.VERIFICATION), (Report, fields.REPORT),
    (Edition, fields.EDITION),
)  # fmt: skip
BOUNDED = (BoundedArrayField, BoundedJSONField, BoundedTextField)
# Held to their bounds where they come in: by forms and REST, by what agents may say, by whoever reads an archive or
# what was published. `proof` is a part of a finding's details.
AT_THE_DOOR = {
    *("Campaign.goal", "Campaign.publication", "Note.text", "Experiment.fixed", "Experiment.factors"),
    *("Experiment.zips", "Experiment.exclusions", "Experiment.printed", "Finding.state_reason", "Decision.reason"),
    *("FactSnapshot.facts", "Job.fault_detail", "Verification.proof"),
}
LONG = Message("%(why)s %(inner)s", {"why": "왜" * 9000, "inner": Message("%(a)s", {"a": "x" * 9000}).as_json()})


def _message() -> Any:
    return LONG.as_json()


def _failure() -> Any:
    return ToolFailure("no-plan", LONG, False, LONG).as_json()


def _reading() -> dict[str, Any]:
    """Return what is kept of a reading that has much more than can be."""
    metric = tools.get("ping").metrics[0].name
    seen = {f"k{number}": "왜" * 900 for number in range(100)}
    doubts = [Flag(f"doubt-{number}", "info", LONG, (metric,)) for number in range(300)]
    doubts.append(Flag("wrong", "invalid", LONG))
    reading = Reading((), requested=seen, granted=seen, observed=seen, flags=tuple(doubts))
    within = bounds.within(reading, tools.get("ping"))
    assert within == bounds.within(within, tools.get("ping"))
    assert {flag.name for flag in within.flags} >= {"wrong", "flags-cut"}
    # A mark, and that today's parser refuses it, come later.
    flags = [*within.as_json()["flags"], *(Flag("mark", "invalid", LONG).as_json() for _number in range(2))]
    return {**within.as_json(), "flags": flags}


def _resolved() -> Any:
    return stages._fitting({f"p{number}": "1," * 9000 for number in range(30)})


def _references() -> Any:
    referenced = [f"finding:7k3m-9qxt-2v4h/window-too-small/{number}/client=a" for number in range(50_000)]
    document = documents.document()
    object.__setattr__(document, "rests_on", (*referenced, "campaign:aaaa-bbbb-cccc"))
    kept = reports._references(document)
    assert len(kept) > 1000 and {"campaign:aaaa-bbbb-cccc", referenced[0]} < set(kept)
    return kept


def _plan(word: str, number: int, **command: Any) -> Plan:
    client = Command(role="client", node_index=0, argv=("mpirun", *[word] * number), time_limit_s=1.0, **command)
    # The jobs of the campaign that comes back are of these.
    return Plan((*(Stage(f"before-{place}", ()) for place in range(9)), Stage("measure", (client,))))


def _largest(kind: Callable[[int], Plan]) -> Plan:
    """Return the largest plan of a kind that is not refused."""
    fit, excess = 0, 2**20
    while excess - fit > 1:
        middle = (fit + excess) // 2
        try:
            plans._require_room(kind(middle))
            fit = middle
        except ToolFailure as failure:
            assert failure.code == "plan-too-long" and failure.remedy
            excess = middle
    assert 0 < fit < 2**20 - 1
    return kind(fit)


def _command(name: str, kind: Callable[[int], Plan]) -> Callable[[], Any]:
    return lambda: _largest(kind).stages[-1].commands[0].as_json()[name]


WRITTEN: dict[str, Callable[[], Any]] = {
    "Trial.reason": _failure,
    "Run.reason": _failure,
    "Experiment.refusal": _message,
    "Event.message": _message,
    "Finding.title": _message,
    "Decision.note": _message,
    "Experiment.resolved": _resolved,
    "Edition.rests_on": _references,
    "Run.plan": lambda: _largest(lambda size: _plan("", 0, files=(("hosts", "h" * size),))).as_json(),
    "Job.files": _command("files", lambda size: _plan("", 0, files=(("hosts", "h" * size),))),
    "Job.argv": _command("argv", lambda size: _plan("-H", size)),
    "Job.collect": _command("collect", lambda size: _plan("", 0, collect=("file",) * size)),
    "Job.environment": _command("environment", lambda size: _plan("", 0, environment=(("A", "b" * size),))),
    **{
        f"Result.{name}": lambda name=name: _reading()[name] for name in ("requested", "granted", "observed", "flags")
    },
}
# Refused by their own tests below, or in tests/bench/test_bounds_of_readings.py.
REFUSED = {"Trial.parameters", "Finding.details", "Finding.change", "Finding.undo", "Series.times", "Series.values"}


def _bounded() -> Iterator[str]:
    for model, names in EXPORTED:
        for name in names:
            if isinstance(model._meta.get_field(name), BOUNDED):
                yield f"{model.__name__}.{name}"


def test_of_each_bounded_field_of_an_archive_it_is_known_who_holds_it_to_its_bound() -> None:
    of_archives = {value for name, value in vars(fields).items() if name.isupper()}
    assert of_archives == {names for _model, names in EXPORTED}
    known = [*AT_THE_DOOR, *WRITTEN, *REFUSED]
    assert sorted(known) == sorted(_bounded())


def _field(label: str) -> tuple[type[models.Model], str]:
    name, _dot, field = label.partition(".")
    return next(model for model, _names in EXPORTED if model.__name__ == name), field


@pytest.mark.parametrize("label", WRITTEN)
def test_what_the_service_writes_is_within_the_bound_of_its_field(label: str) -> None:
    model, name = _field(label)
    value = WRITTEN[label]()
    assert value and not too_long(model, **{name: value})


def test_parameters_longer_than_a_trial_keeps_are_refused_when_they_are_defined(
    measured: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = measured.experiments.earliest("pk")
    checks.expand_checked(experiment, experiment.roles.all())
    field = Trial._meta.get_field("parameters")
    monkeypatch.setattr(field, "run_validators", Mock(side_effect=ValidationError("too long")))
    with pytest.raises(errors.Refused, match="longer than what is kept"):
        checks.expand_checked(experiment, experiment.roles.all())


# Of a form that lines to paste have.
LONG_LINES = "# x\n" * 5_001


@pytest.mark.parametrize("change", [{"change": LONG_LINES}, {"undo": LONG_LINES}, {"why": (LONG,) * 20}, {}], ids=str)
def test_a_finding_longer_than_what_is_kept_is_refused_as_its_rules_mistake(
    finished: Campaign, change: dict[str, Any]
) -> None:
    draft = FindingDraft(
        rule="rule", version=1, title=LONG, why=(LONG,), formula="", evidence=(), confidence=1.0, applies_when=LONG
    )
    stored, failure = findings._try(finished, (), replace(draft, **change))
    assert (stored is None) == bool(change)
    assert not change or "longer than what is kept" in str(failure and failure.cause)


def test_a_campaign_in_which_all_is_as_long_as_it_may_be_comes_back(
    cast: SimpleNamespace, finished: Campaign
) -> None:
    for label, write in WRITTEN.items():
        model, name = _field(label)
        if model is not Edition:
            rewriting.update(model._default_manager.all(), **{name: write()})
    data = b"".join(archive_of(finished, now=timezone.now()))
    number = finished.trials.count()
    rewriting.delete(finished)
    assert came_in(data, cast.other_team, cast.charlie).trials.count() == number
