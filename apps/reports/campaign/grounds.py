"""What findings rest on, as a table that their sentences are asked of: trials, figures now and then, gain."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bench.statistics import Mean, mean_of
from apps.bench.toolkit import Metric, Tool
from apps.core import messages
from apps.reports.campaign.conclusions import Conclusion, changes_of, established_of, problems_of
from apps.reports.campaign.material import Material
from apps.reports.claims import counted, grounded
from apps.reports.columns import quantity
from apps.reports.document import Column, Link, Part, Sentence, Table, Value, spaced
from apps.results import means
from apps.results.models import Sample
from apps.tuning.models import Finding

Record = Mapping[str, Any]
# Its key, and its columns.
GROUNDS = "grounds"
NUMBER, TITLE, TRIALS, METRIC, PRESENT, TRIED, COUNT, PREDICTED, GAIN = range(9)
# Figures that agree to this share are the same ones.
SAME = 1e-6


@dataclass(frozen=True)
class Figure:
    """A figure of a finding (base unit), and those behind it with their mean; none of what a rule reckoned."""

    value: float | None
    unit: str
    behind: Sequence[float] = ()
    mean: Mean = Mean.ARITHMETIC

    @property
    def text(self) -> str:
        """Return it as sentences print it, "" if there is none."""
        return "" if self.value is None else quantity(self.value, self.unit)


@dataclass(frozen=True)
class Ground:
    """What one finding, or one of the parts of a finding, rests on; `number` names it in the table."""

    number: str
    title: str
    ref: str
    trials: int | None
    metric: str
    present: Figure
    tried: Figure
    predicted: Figure
    own: Record

    @property
    def gain(self) -> float | None:
        """Return the ratio of what is predicted to what there is."""
        now, then = self.present.value, self.predicted.value
        return then / now if now and then else None

    def text_of(self, message: Record) -> str:
        """Return one of its texts; where it says one of its figures, then as the table has it."""
        params = message.get("params")
        said = {text: figure.text for text, figure in self._told() if text}
        if not isinstance(params, Mapping) or not said:
            return messages.render(message)
        settled = {
            name: said.get(value, value) if isinstance(value, str) else value for name, value in params.items()
        }
        return messages.render({**message, "params": settled})

    def line_of(self, message: Record) -> Part:
        """Return one of its texts, with its claim where it says a figure of the table."""
        params = message.get("params")
        values = (
            {value for value in params.values() if isinstance(value, str)} if isinstance(params, Mapping) else set()
        )
        columns = {
            column: figure.text
            for column, (text, figure) in zip((PRESENT, TRIED, PREDICTED), self._told(), strict=True)
            if text in values
        }
        said = self.text_of(message)
        return counted.cells(said, GROUNDS, self.number, columns) if columns else said

    def _told(self) -> tuple[tuple[str, Figure], ...]:
        """Return its figures by what its rule calls them."""
        unit = str(self.own.get("predicted_unit") or "")
        figures = {"present": self.present, "tried": self.tried, "predicted": self.predicted}
        told = ((self.own.get(name), figure) for name, figure in figures.items())
        return tuple((quantity(value, unit) if value else "", figure) for value, figure in told)

    def outlook(self) -> tuple[Part, ...]:
        """Return what is predicted, and what was measured at present or at the other setting, each with its claim."""
        said: list[Sentence] = []
        if self.predicted.text:
            text = _("Predicted: %(predicted)s.") % {"predicted": self.predicted.text}
            said.append(self._figure(text, PREDICTED, self.predicted))
        if self.present.text:
            text = _("At present: %(present)s.") % {"present": self.present.text}
            if count := len(self.present.behind):
                words = {"present": self.present.text, "mean": means.label_of(self.present.mean), "n": count}
                text = _("At present: %(present)s (%(mean)s, n = %(n)s).") % words
            said.append(self._figure(text, PRESENT, self.present))
        if self.tried.text:
            text = _("Measured beside it: %(tried)s.") % {"tried": self.tried.text}
            said.append(self._figure(text, TRIED, self.tried))
        return spaced(said)

    def gained(self, text: str) -> Sentence | None:
        """Return a sentence that says the predicted gain ("%(gain)s"), None if there is none."""
        if self.gain is None:
            return None
        gain, kinds = f"{self.gain:.3g}", (self.present.mean, self.predicted.mean)
        return grounded.gain(text % {"gain": gain}, GROUNDS, (PRESENT, PREDICTED, GAIN), self.number, gain, kinds)

    def rests(self) -> Sentence | None:
        """Return on how many trials it rests, with its claim; None of a part, which rests on those of all."""
        if self.trials is None:
            return None
        text = ngettext("Rests on %(n)s trial", "Rests on %(n)s trials", self.trials) % {"n": self.trials}
        return counted.cells(text, GROUNDS, self.number, {TRIALS: str(self.trials)})

    def _figure(self, text: str, column: int, figure: Figure) -> Sentence:
        n = len(_figures(figure))
        return grounded.figure(text, GROUNDS, column, self.number, figure.text, figure.mean, n, figure.unit)


@dataclass(frozen=True)
class Grounds:
    """What all findings of a report rest on, by their ids; the parts of each in their order."""

    own: Mapping[int, Ground]
    parts: Mapping[int, Sequence[Ground]]

    def table(self) -> Table | None:
        """Return the table, None without findings."""
        if not self.own:
            return None
        columns = (
            Column(_("No.")),
            Column(_("Finding")),
            Column(_("Trials"), kind="number"),
            Column(_("Metric")),
            Column(_("At present")),
            Column(_("Measured beside it")),
            Column(_("n"), kind="number"),
            Column(_("Predicted")),
            Column(_("Predicted gain (ratio)"), kind="number"),
        )
        listed = [ground for pk, own in self.own.items() for ground in (own, *self.parts[pk])]
        rows: list[tuple[Value | Link, ...]] = [
            (
                ground.number,
                Link(ground.title, ground.ref),
                ground.trials,
                ground.metric or None,
                ground.present.text or None,
                ground.tried.text or None,
                len(ground.present.behind or ground.tried.behind) or None,
                ground.predicted.text or None,
                ground.gain,
            )
            for ground in listed
        ]
        behind = {str(PRESENT): [_figures(ground.present) for ground in listed]}
        behind[str(TRIED)] = [_figures(ground.tried) for ground in listed]
        behind[str(PREDICTED)] = [_figures(ground.predicted) for ground in listed]
        note = _("Parts of a finding, proposed for the same question, follow it with a point in their number.")
        return Table(GROUNDS, _("What the findings rest on"), columns, rows, note=note, figures=behind)


def read(made: Material) -> Grounds:
    """Return what the findings of a report rest on, in the order in which they are told, in one query."""
    told: list[Conclusion] = [*problems_of(made), *established_of(made), *changes_of(made)]
    samples = _samples(item.first for item in told)
    own: dict[int, Ground] = {}
    parts: dict[int, Sequence[Ground]] = {}
    for number, item in enumerate(told, start=1):
        finding, ref = item.findings[0]
        trials = len(finding.details.get("evidence", ()))
        first = _ground(made, str(number), ref, finding, finding.details, samples)
        own[finding.pk] = replace(first, trials=trials)
        parts[finding.pk] = [
            _ground(made, f"{number}.{place}", ref, finding, part, samples)
            for place, part in enumerate(finding.details.get("parts") or (), start=1)
        ]
    return Grounds(own, parts)


def _ground(made: Material, number: str, ref: str, finding: Finding, record: Record, samples: "Samples") -> Ground:
    """Return what a finding, or a part of it, rests on."""
    proof, unit = record.get("proof") or {}, str(record.get("predicted_unit") or "")
    tool = made.tools.get(str(proof.get("tool") or ""))
    metric = next((item for item in tool.metrics if item.name == proof.get("metric")), None) if tool else None
    settings = {"present": proof.get("now"), "tried": proof.get("now"), "predicted": proof.get("then")}
    told = [(record.get(name), setting) for name, setting in settings.items()]
    present, tried, predicted = (
        _measured(float(value), unit, tool, metric, _behind(finding, proof, setting, samples))
        if isinstance(value, int | float)
        else Figure(None, unit)
        for value, setting in told
    )
    ground = Ground(number, "", ref, None, _(metric.label) if metric else "", present, tried, predicted, record)
    return replace(ground, title=ground.text_of(record.get("title") or finding.title))


Samples = Mapping[tuple[int, str], float]


def _samples(findings: Iterable[Finding]) -> Samples:
    """Return {(trial, metric): its figure that counts} of what the proofs of findings speak of."""
    trials: set[int] = set()
    metrics: set[str] = set()
    for finding in findings:
        for record in (finding.details, *(finding.details.get("parts") or ())):
            if metric := (record.get("proof") or {}).get("metric"):
                metrics.add(str(metric))
                trials |= {trial.pk for trial in finding.trials.all()}
    if not metrics:
        return {}
    rows = Sample.objects.filter(trial__in=trials, metric__in=metrics, counts=True)
    return {(trial, metric): value for trial, metric, value in rows.values_list("trial_id", "metric", "value")}


def _behind(
    finding: Finding, proof: Record, setting: Record | None, samples: "Samples"
) -> dict[int, tuple[Record, float]]:
    """Return {trial: (its parameters, its figure)} of those that a finding rests on at a setting of its proof."""
    name = str(proof.get("metric") or "")
    return {
        trial.pk: (trial.parameters, samples[trial.pk, name])
        for trial in finding.trials.all()
        if setting
        and trial.experiment.tool == proof.get("tool")
        and (trial.pk, name) in samples
        and all(trial.parameters.get(key) == wanted for key, wanted in setting.items())
    }


def _measured(
    value: float, unit: str, tool: Tool | None, metric: Metric | None, behind: Mapping[int, tuple[Record, float]]
) -> Figure:
    """Return a rule's figure: where it is a mean of what its trials measured, the mean that is right for them."""
    figures = [figure for _parameters, figure in behind.values()]
    if tool is None or metric is None or not figures or min(figures) <= 0 or not _is_mean(value, figures):
        return Figure(value, unit)
    mean, _why = means.right_mean([tool], [parameters for parameters, _figure in behind.values()], metric.unit)
    return Figure(means.value_of(figures, mean), unit, figures, mean)


def _is_mean(value: float, behind: Sequence[float]) -> bool:
    """Return whether a rule's figure is a mean of these, of whichever kind."""
    return any(isclose(value, mean_of(behind, kind), rel_tol=SAME) for kind in Mean)


def _figures(figure: Figure) -> list[float]:
    """Return what stands behind a cell: the single figures, or the one that a rule reckoned."""
    return list(figure.behind) or ([] if figure.value is None else [figure.value])
