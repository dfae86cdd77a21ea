"""How it was measured: tools and versions, what was set and varied, how often, and what counts."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from apps.bench.sweep import likeness
from apps.bench.toolkit import Tool
from apps.campaigns.models import Experiment
from apps.reports.campaign.material import Material
from apps.reports.claims import counted
from apps.reports.document import Block, Column, Paragraph, Part, Section, Table, Value
from apps.results import charts, queries

# The table of what became of the trials, and its column of all of them.
OUTCOMES, OF_ALL = "outcomes", 2
LEFT_OUT = "left-out"


def section(material: Material) -> Section:
    """Return the section on the method."""
    statement = counted.sums(extent(material), OUTCOMES, {-1: len(material.experiments), **_sums(material)})
    blocks: list[Block] = [
        Paragraph((statement,), key="method"),
        _tools(material),
        _experiments(material),
        _outcomes(material),
    ]
    if material.main.is_published:
        text = _("The figures were read from a publication; nothing of them was measured by this service.")
        blocks.insert(1, Paragraph((text,), style="warning"))
    blocks.append(Paragraph(_validity(material), key="validity"))
    blocks += [table] if (table := _left_out(material)) else []
    return Section("method", _("Method"), tuple(blocks))


def extent(material: Material) -> str:
    """Return how many experiments and trials there are, and what came of them."""
    trials = material.trials()
    experiments = len(material.experiments)
    parts = [
        ngettext("%(n)s experiment", "%(n)s experiments", experiments) % {"n": f"{experiments:,}"},
        trials.text,
        *trials.remarks,
    ]
    return ", ".join(parts) + "."


def _outcomes(material: Material) -> Table:
    """Return what became of the trials of each experiment."""
    titles = (_("Trials"), *(title for _name, title in _ends()))
    columns = (Column(_("No."), kind="number"), Column(_("Experiment")), *(Column(t, kind="number") for t in titles))
    rows = [
        (
            material.numbers[item.pk],
            material.title_of(item),
            material.trials(item).total,
            *(getattr(material.trials(item), name) for name, _title in _ends()),
        )
        for item in material.experiments
    ]
    return Table(OUTCOMES, _("What became of the trials"), columns, rows)


def _left_out(material: Material) -> Table | None:
    """Return how many results are invalid by each flag, and how many were read again; None where there are none."""
    rows: list[tuple[Value, ...]] = [(name, count) for name, count in sorted(material.invalid.items())]
    if material.corrected:
        rows.append((_("Read again"), material.corrected))
    columns = Column(_("Flag")), Column(_("Results"), kind="number")
    return (
        Table(LEFT_OUT, _("Results that are invalid by their flags, or were read again"), columns, rows)
        if rows
        else None
    )


def _ends() -> list[tuple[str, str]]:
    """Return what becomes of trials, with the titles of their columns."""
    return [
        ("measured", pgettext("trials", "Measured")),
        ("failed", _("Failed")),
        ("not_measured", _("Not measured")),
        ("running", _("Running")),
        ("waiting", _("Waiting")),
        ("warmups", _("Warm-ups")),
        ("set_aside", _("Set aside")),
    ]


def _sums(material: Material) -> dict[int, int]:
    """Return {column of what became of trials: its sum} of what is told: all of them, and what occurs."""
    trials, first = material.trials(), OF_ALL + 1
    ends = {first + place: int(getattr(trials, name)) for place, (name, _title) in enumerate(_ends())}
    return {
        OF_ALL: trials.total,
        first: trials.measured,
        **{column: count for column, count in ends.items() if count},
    }


def _tools(material: Material) -> Table:
    columns = (Column(_("Tool")), Column(_("What it measures")), Column(_("Versions")))
    rows = [
        (tool.name, _(tool.summary), ", ".join(material.versions.get(slug, ())) or "–")
        for slug, tool in material.tools.items()
    ]
    return Table("tools", _("Tools"), columns, rows)


def _experiments(material: Material) -> Table:
    columns = (
        Column(_("No."), kind="number"),
        Column(_("Experiment")),
        Column(_("Tool")),
        Column(_("Nodes")),
        Column(_("Varied")),
        Column(_("Set")),
        Column(_("Repetitions")),
        Column(_("Order")),
    )
    rows = [
        (
            material.numbers[item.pk],
            material.title_of(item),
            material.tool(item).name,
            "; ".join(material.ends_of(lane) for lane in material.lanes[item.pk][:6])
            + (" …" if len(material.lanes[item.pk]) > 6 else ""),
            varied_text(item, material.tool(item)),
            _fixed_text(item, material.tool(item)),
            _repetitions(item),
            str(item.get_order_display()),
        )
        for item in material.experiments
    ]
    return Table("experiments", _("Experiments"), columns, rows)


def varied_text(experiment: Experiment, tool: Tool) -> str:
    """Return what an experiment varies, as it was written."""
    return "; ".join(
        f"{charts.label_of_factor(tool, factor['name'])}: {factor['expression']}"
        for factor in experiment.factors
        if likeness.is_told(factor["name"])
    )


def _fixed_text(experiment: Experiment, tool: Tool) -> str:
    values: dict[str, Any] = likeness.told_of({**experiment.fixed, **experiment.resolved})
    parts = [f"{charts.label_of_factor(tool, name)}: {_typed(tool, name, text)}" for name, text in values.items()]
    parts += [text] if (text := _unknown_text(experiment, tool)) else []
    if experiment.file_system:
        parts.append(_("file system: %(name)s") % {"name": experiment.file_system.name})
    return "; ".join(parts)


def _unknown_text(experiment: Experiment, tool: Tool) -> str:
    """Return what nobody told of an import, and whether that was the same in all of it; "" where all is known."""
    unknown = likeness.unknown_in_sweep(tool, experiment.fixed, experiment.factors)
    if not unknown:
        return ""
    text = _("not known: %(names)s")
    if likeness.AS_IN in experiment.fixed and experiment.trials.count() > 1:
        text = _("not known, but the same in all: %(names)s")
    return text % {"names": ", ".join(_(parameter.label) for parameter in unknown)}


def _typed(tool: Tool, name: str, text: object) -> str:
    """Return a parameter's text as a reader writes it; formulas as they are."""
    parameter = queries.parameter_of(tool, name)
    if parameter is None or str(text).startswith("="):
        return str(text)
    if not str(text):
        return _(parameter.zero) if parameter.zero else _("default")
    try:
        return charts.text_of(parameter, parameter.clean(str(text)), {})
    except ValueError:
        return str(text)


def _repetitions(experiment: Experiment) -> str:
    text = str(experiment.repetitions)
    if experiment.precision is not None:
        words = {"least": experiment.repetitions, "most": experiment.most_repetitions}
        text = _("%(least)s to %(most)s, until within %(share)s %%") % {
            **words,
            "share": f"{100 * experiment.precision:g}",
        }
    if experiment.warmups:
        text += ", " + ngettext("%(n)s warm-up", "%(n)s warm-ups", experiment.warmups) % {"n": experiment.warmups}
    return text


def _validity(material: Material) -> tuple[Part, ...]:
    """Return what counts, what was left out and what the intervals mean."""
    sentences: list[Part] = [
        _("Whether a trial counts as measured is decided by what its tool printed; figures of warm-ups never count."),
        _(
            "Intervals of means are of 95 % by Student's t (of 3 to 7 figures ×1.4 to ×1.05 as wide, and all with the"
            " figures' lean taken out, Hall 1992), if the scatter is even, of figures in two modes by the bootstrap."
            " Where the places of a table together show two modes or a lean, few figures have no confidence; equal"
            " figures have no interval. Rates of equal work are averaged harmonically."
        ),
    ]
    if material.invalid:
        invalid_flags = ", ".join(f"{name} × {count}" for name, count in sorted(material.invalid.items()))
        text = _("Left out as invalid by their own signs: %(named)s.") % {"named": invalid_flags}
        counts = {name: str(count) for name, count in material.invalid.items()}
        sentences.append(counted.rows(text, LEFT_OUT, 1, counts))
    if count := material.trials().set_aside:
        text = ngettext("%(n)s trial was set aside by a person.", "%(n)s trials were set aside by a person.", count)
        column = OF_ALL + len(_ends())
        sentences.append(counted.sums(text % {"n": f"{count:,}"}, OUTCOMES, {column: count}))
    if material.corrected:
        text = ngettext(
            "%(n)s result was read again from its raw output; its page tells why and keeps the earlier one.",
            "%(n)s results were read again from their raw outputs; their pages tell why and keep the earlier ones.",
            material.corrected,
        )
        number = str(material.corrected)
        sentences.append(counted.rows(text % {"n": number}, LEFT_OUT, 1, {_("Read again"): number}))
    return tuple(part for sentence in sentences for part in (" ", sentence))[1:]
