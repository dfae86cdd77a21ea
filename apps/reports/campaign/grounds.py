"""What findings rest on, as a table that their sentences are asked of: trials, figures now and then, gain."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bench.rules import of_nodes
from apps.core import messages
from apps.reports.campaign.conclusions import Conclusion, changes_of, established_of, kept_of, problems_of
from apps.reports.campaign.material import Material
from apps.reports.campaign.measured import (
    FIGURES,
    FindingFigure,
    Record,
    Samples,
    behind_of,
    figures_of,
    measured,
    samples_of,
    value_of,
)
from apps.reports.claims import counted, grounded, titles
from apps.reports.columns import quantity
from apps.reports.document import Block, Claim, Column, Part, Sentence, Table, TextLink, Value, others_read, spaced
from apps.results import means
from apps.tuning.models import Finding

# Its key, and its columns.
GROUNDS = "grounds"
NUMBER, TITLE, TRIALS, METRIC, PRESENT, TRIED, COUNT, PREDICTED, GAIN, VALUE, FLAGS, ALSO = range(12)


@dataclass(frozen=True)
class Ground:
    """What one finding, or one of the parts of a finding, rests on; `number` names it in the table.

    `value` is what it gives, `also` the other figures that its title says, `flags` what speaks against its trials.
    """

    number: str
    title: str
    ref: str
    trials: int | None
    metric: str
    present: FindingFigure
    tried: FindingFigure
    predicted: FindingFigure
    value: FindingFigure
    own: Record
    also: tuple[str, ...] = ()
    flags: str = ""

    @property
    def claim(self) -> Claim | None:
        """Return what its title claims: that its figures are those of its row."""
        figures = titles.figures_of(self._settled(self.own.get("title") or {}))
        cells = {
            column: titles.TitleCell(figure.text, figure.unit, figure.mean)
            for column, figure in self._columns().items()
            if figure.text in figures
        }
        if self.also:
            cells[ALSO] = titles.TitleCell(titles.BETWEEN.join(self.also))
        return titles.claim_of(GROUNDS, self.number, cells)

    @property
    def link(self) -> TextLink:
        """Return its title with what it claims, which leads to the finding."""
        return TextLink(self.title, self.ref, self.claim)

    @property
    def said(self) -> Part:
        """Return its title with what it claims."""
        claim = self.claim
        return Sentence(self.title, claim) if claim else self.title

    @property
    def gain(self) -> float | None:
        """Return the ratio of what is predicted to what there is."""
        now, then = self.present.value, self.predicted.value
        return then / now if now and then else None

    def text_of(self, message: Record) -> str:
        """Return one of its texts; where it says one of its figures, then as the table has it."""
        return messages.render(self._settled(message))

    def others_of(self, message: Record) -> tuple[str, ...]:
        """Return the figures that one of its texts says and no other column has."""
        texts = {figure.text for figure in self._columns().values()}
        return tuple(figure for figure in titles.figures_of(self._settled(message)) if figure not in texts)

    def line_of(self, message: Record) -> Part:
        """Return one of its texts, with its claim where it says a figure of the table."""
        # A message may bring figures that its words do not say.
        values = titles.figures_of(message)
        columns = {
            column: figure.text
            for (text, figure), column in zip(self._told(), self._columns(), strict=True)
            if text and text in values
        }
        line = self.text_of(message)
        return counted.cells(line, GROUNDS, self.number, columns) if columns else line

    def _settled(self, message: Record) -> Record:
        """Return one of its texts with its figures as the table has them."""
        params = message.get("params")
        texts_by_rule = {text: figure.text for text, figure in self._told() if text}
        if not isinstance(params, Mapping) or not texts_by_rule:
            return message
        settled = {
            name: texts_by_rule.get(value, value) if isinstance(value, str) else value
            for name, value in params.items()
        }
        return {**message, "params": settled}

    def _columns(self) -> dict[int, FindingFigure]:
        return {PRESENT: self.present, TRIED: self.tried, PREDICTED: self.predicted, VALUE: self.value}

    def _told(self) -> tuple[tuple[str, FindingFigure], ...]:
        """Return its figures by what its rule calls them."""
        names = zip((*FIGURES, "value"), self._columns().values(), strict=True)
        values = ((self.own.get(name), figure) for name, figure in names)
        return tuple((quantity(value, figure.unit) if value else "", figure) for value, figure in values)

    def outlook(self) -> tuple[Part, ...]:
        """Return what is predicted, and what was measured at present or at the other setting, each with its claim."""
        outlook: list[Sentence] = []
        if self.predicted.text:
            text = _("Predicted: %(predicted)s.") % {"predicted": self.predicted.text}
            outlook.append(self._figure(text, PREDICTED, self.predicted))
        if self.present.text:
            text = _("At present: %(present)s.") % {"present": self.present.text}
            if count := len(self.present.behind):
                words = {"present": self.present.text, "mean": means.label_of(self.present.mean), "n": count}
                text = _("At present: %(present)s (%(mean)s, n = %(n)s).") % words
            outlook.append(self._figure(text, PRESENT, self.present))
        if self.tried.text:
            text = _("Measured beside it: %(tried)s.") % {"tried": self.tried.text}
            outlook.append(self._figure(text, TRIED, self.tried))
        return spaced(outlook)

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

    def flagged(self) -> Sentence | None:
        """Return how many of the trials that it rests on are flagged, and with what; None of none."""
        if not self.flags:
            return None
        return counted.cells(f"{self.flags}.", GROUNDS, self.number, {FLAGS: self.flags})

    def _figure(self, text: str, column: int, figure: FindingFigure) -> Sentence:
        n = len(figures_of(figure))
        return grounded.figure(text, GROUNDS, column, self.number, figure.text, figure.mean, n, figure.unit)


@dataclass(frozen=True)
class Grounds:
    """What all findings of a report rest on, by their ids; the parts of each in their order."""

    own: Mapping[int, Ground]
    parts: Mapping[int, Sequence[Ground]]

    def marked(self, finding: Finding, told: Callable[[Ground, Sequence[Ground]], list[Block]]) -> list[Block]:
        """Return what is told of a finding and its parts, marked with what readers of other teams get of it."""
        parts, record = self.parts[finding.pk], {"change": finding.change, "undo": finding.undo}
        own = replace(self.own[finding.pk], own={**self.own[finding.pk].own, **record})
        other = replace(own, own=of_nodes.for_others(own.own, finding.rule))
        others = [replace(part, own=of_nodes.for_others(part.own, str(part.own.get("rule", "")))) for part in parts]
        return others_read(told(own, parts), told(other, others))

    def table(self) -> Table | None:
        """Return the table, None without findings."""
        if not self.own:
            return None
        listed = [ground for pk, own in self.own.items() for ground in (own, *self.parts[pk])]
        has_others = any(ground.also for ground in listed)
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
            Column(_("Value")),
            Column(_("Flags")),
            *([Column(_("Also in the title"))] if has_others else ()),
        )
        rows: list[tuple[Value | TextLink, ...]] = [
            (
                ground.number,
                ground.link,
                ground.trials,
                ground.metric or None,
                ground.present.text or None,
                ground.tried.text or None,
                len(ground.present.behind or ground.tried.behind or ground.value.behind) or None,
                ground.predicted.text or None,
                ground.gain,
                ground.value.text or None,
                ground.flags or None,
                *([titles.BETWEEN.join(ground.also) or None] if has_others else ()),
            )
            for ground in listed
        ]
        behind = {
            str(PRESENT): [figures_of(ground.present) for ground in listed],
            str(TRIED): [figures_of(ground.tried) for ground in listed],
            str(PREDICTED): [figures_of(ground.predicted) for ground in listed],
            str(VALUE): [figures_of(ground.value) for ground in listed],
        }
        note = _("Parts of a finding, proposed for the same question, follow it with a point in their number.")
        return Table(GROUNDS, _("What the findings rest on"), columns, rows, note=note, figures=behind)


def read(material: Material) -> Grounds:
    """Return what the findings of a report rest on, in the order in which they are told, in one query."""
    conclusions: list[Conclusion] = [
        *problems_of(material),
        *established_of(material),
        *changes_of(material),
        *kept_of(material),
    ]
    samples = samples_of(material, [item.first for item in conclusions])
    own: dict[int, Ground] = {}
    parts: dict[int, Sequence[Ground]] = {}
    for number, item in enumerate(conclusions, start=1):
        finding, ref = item.findings[0]
        trials = len(finding.details.get("evidence", ()))
        first = _ground(material, str(number), ref, finding, finding.details, samples)
        own[finding.pk] = replace(first, trials=trials, flags=finding.mark.text if finding.mark else "")
        parts[finding.pk] = [
            _ground(material, f"{number}.{place}", ref, finding, part, samples)
            for place, part in enumerate(finding.details.get("parts") or (), start=1)
        ]
    return Grounds(own, parts)


def _ground(material: Material, number: str, ref: str, finding: Finding, record: Record, samples: Samples) -> Ground:
    """Return what a finding, or a part of it, rests on."""
    proof, unit = record.get("proof") or {}, str(record.get("predicted_unit") or "")
    tool = material.tools.get(str(proof.get("tool") or ""))
    metric = next((item for item in tool.metrics if item.name == proof.get("metric")), None) if tool else None
    settings = {"present": proof.get("now"), "tried": proof.get("now"), "predicted": proof.get("then")}
    figures = [(record.get(name), setting) for name, setting in settings.items()]
    present, beside, predicted = (
        measured(float(value), unit, tool, metric, behind_of(finding, proof, setting, samples))
        if isinstance(value, int | float)
        else FindingFigure(None, unit)
        for value, setting in figures
    )
    value_found = value_of(material, finding, record, (present, beside, predicted), samples)
    label = _(metric.label) if metric else ""
    ground = Ground(number, "", ref, None, label, present, beside, predicted, value_found, record)
    title = record.get("title") or finding.title
    return replace(ground, title=ground.text_of(title), also=ground.others_of(title))
