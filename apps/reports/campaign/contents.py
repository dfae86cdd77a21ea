"""The document of a campaign's report, section by section."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from django.utils import translation
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.campaigns.models import Campaign, Experiment
from apps.core import messages
from apps.reports.campaign import (
    analysis,
    appendix,
    contrast,
    grounds,
    inventory,
    material,
    method,
    printed,
    short,
    single,
    swept,
    within,
)
from apps.reports.campaign.grounds import Grounds
from apps.reports.campaign.material import Material
from apps.reports.document import Block, Document, Figure, Items, Link, Paragraph, Part, Section, spaced
from apps.reports.parts import Parts

# So many figures are told of in the summary.
MOST_SAID = 6


def build(
    campaigns: Sequence[Campaign],
    *,
    user: User,
    language: str,
    baseline: Campaign | None = None,
    trials: bool = True,
    is_strict: bool = False,
) -> Document:
    """Return the report of a campaign (the first) and others that belong to it, of all that the user may see.

    `baseline` is what it is compared with; without `trials` the appendix of every trial is left out.
    A section that cannot be computed says so, and the others stand; with `is_strict` that is a ConflictError.
    """
    with translation.override(language):
        made = material.read(campaigns, user, baseline)
        rests = grounds.read(made)
        made.titles = {pk: ground.link for pk, ground in rests.own.items()}
        one_by_one = Parts(is_strict=is_strict)
        results = one_by_one.section("results", _("Results"), lambda: _results(made, one_by_one))
        contrasted = one_by_one.section("baseline", _("Compared with a baseline"), lambda: contrast.section(made))
        sections = [
            _purpose(made),
            one_by_one.section("testbed", _("What was measured on"), lambda: inventory.section(made)),
            one_by_one.section("method", _("Method"), lambda: method.section(made)),
            results,
            contrasted,
            analysis.problems(made, rests),
            analysis.findings(made, rests),
            _conclusion(made),
            appendix.section(made) if trials else None,
        ]
        return Document(
            kind="campaign",
            title=made.main.name,
            subtitle=_("Report of a measurement campaign"),
            language=language,
            sections=tuple(found for found in sections if found),
            meta=_meta(made),
            rests_on=_rests_on(made),
            summary=_summary(made, rests, results, contrasted),
        )


def _meta(made: Material) -> tuple[tuple[str, str], ...]:
    """Return the lines of the title page."""
    first, last = made.period
    lines = [
        (_("Permanent id"), ", ".join(campaign.permanent_id for campaign in made.campaigns)),
        (_("Team"), made.main.team.name),
        (_("Origin"), str(made.main.get_origin_display())),
    ]
    if first and last and not made.main.is_published:
        days = dict.fromkeys((f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}"))
        lines.append((_("Measured"), " – ".join(days)))
    lines.append((_("Extent"), method.extent(made)))
    return tuple(lines)


def _rests_on(made: Material) -> tuple[str, ...]:
    """Return the permanent ids of all that the report was made from."""
    refs = [f"campaign:{campaign.permanent_id}" for campaign in made.campaigns]
    refs += [f"campaign:{made.baseline.permanent_id}"] if made.baseline else []
    refs += [f"experiment:{item.campaign.permanent_id}/{item.position}" for item in made.experiments]
    refs += [ref for _finding, ref in made.findings]
    verified = [item.of_campaign for finding, _ref in made.findings for item in finding.verifications.all()]
    refs += [f"campaign:{permanent_id}" for permanent_id in verified if permanent_id]
    return tuple(dict.fromkeys(refs))


def _summary(
    made: Material, rests: Grounds, results: Section | None, contrasted: Section | None
) -> tuple[Block, ...]:
    """Return what it comes to, and what the first figures show."""
    blocks: list[Block] = [*short.summary(made, rests)]
    for section in (results, contrasted):
        if section and (said := _said(section)):
            blocks += [Paragraph((f"{section.title}:",)), Items(said)]
    return tuple(blocks)


def _conclusion(made: Material) -> Section:
    return Section("conclusion", _("Conclusion"), short.conclusion(made))


def _said(section: Section) -> tuple[tuple[Part, ...], ...]:
    """Return what the first figures of a section show, each with the name of its part and with its claims."""
    told = [
        (f"{part.title} – ", *spaced(block.says))
        for part in section.sections
        for block in part.blocks
        if isinstance(block, Figure) and block.says
    ]
    return tuple(told[:MOST_SAID])


def _purpose(made: Material) -> Section:
    blocks: list[Block] = []
    for place, campaign in enumerate(made.campaigns):
        key = f"purpose-{place + 1}" if place else "purpose"
        goal = campaign.goal or _("No goal was written down.")
        named = (Link(campaign.name, f"campaign:{campaign.permanent_id}"), f": {goal}")
        # Words that an author replaces are plain; the first campaign's name is the title already.
        blocks.append(Paragraph((goal,) if not place else named, key=key))
        if campaign.publication.get("note"):
            blocks.append(Paragraph((campaign.publication["note"],), style="remark"))
        for remark in campaign.publication.get("remarks", ()):
            blocks.append(Paragraph((messages.render(remark),), style="remark"))
    return Section("purpose", _("Purpose"), tuple(blocks))


def _results(made: Material, one_by_one: Parts) -> Section:
    """Return a section for each experiment, those that vary nothing put together by tool."""
    numbered = dict(single.sections(made))
    runs = within.best_runs(made)

    def of(experiment: Experiment) -> Section:
        section = _with(_of_experiment(made, experiment), within.figures_of(made, [experiment], runs))
        return _with_printed(made, experiment, section)

    grouped = {item.pk for item in made.experiments if single.is_single(made, item) and made.metrics[item.pk]}
    parts: list[Section] = []
    for experiment in made.experiments:
        number = made.numbers[experiment.pk]
        if number in numbered:
            alike = [
                item
                for item in made.experiments
                if item.pk in grouped and (item.campaign_id, item.tool) == (experiment.campaign_id, experiment.tool)
            ]
            section = _with(numbered[number], within.figures_of(made, alike, runs))
            parts.append(_with_printed(made, experiment, section))
        elif experiment.pk not in grouped:
            key, title = f"experiment-{made.key(experiment)}", made.heading(experiment)
            found = one_by_one.section(key, title, partial(of, experiment))
            parts += [found] if found else []
    return Section("results", _("Results"), (), tuple(parts))


def _of_experiment(made: Material, experiment: Experiment) -> Section:
    key = f"experiment-{made.key(experiment)}"
    title = made.heading(experiment)
    if experiment.printed and not made.metrics[experiment.pk]:
        return Section(key, title)
    if not made.lanes[experiment.pk]:
        text = messages.render(experiment.refusal) if experiment.refusal else _("It was not carried out.")
        return Section(key, title, (Paragraph((text,), style="warning"),))
    return swept.section(made, experiment)


def _with(section: Section, blocks: Sequence[Block]) -> Section:
    return replace(section, blocks=(*section.blocks, *blocks))


def _with_printed(made: Material, experiment: Experiment, section: Section) -> Section:
    """Return a section with what a publication prints of its experiment without the figures."""
    items = printed.items_of(experiment, made.tool(experiment))
    if items is None:
        return section
    said = Paragraph((_("Printed without the figures:"),))
    return Section(section.key, section.title, (*section.blocks, said, items), section.sections)
