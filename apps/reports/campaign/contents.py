"""The document of a campaign's report, section by section."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from django.utils import translation
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.campaigns.brought_in import BroughtIn
from apps.campaigns.models import Campaign, Experiment
from apps.core import messages
from apps.reports.campaign import (
    analysis,
    appendix,
    contrast,
    grounds,
    inventory,
    method,
    printed,
    short,
    single,
    swept,
    within,
)
from apps.reports.campaign.grounds import Grounds
from apps.reports.campaign.material import Material
from apps.reports.campaign.material import read as read_material
from apps.reports.document import Block, Document, Figure, Items, Paragraph, Part, Section, TextLink, spaced
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
        material = read_material(campaigns, user, baseline)
        rests = grounds.read(material)
        material.titles = {pk: ground.link for pk, ground in rests.own.items()}
        one_by_one = Parts(is_strict=is_strict)
        results = one_by_one.section("results", _("Results"), lambda: _results(material, one_by_one))
        contrasted = one_by_one.section("baseline", _("Compared with a baseline"), lambda: contrast.section(material))
        sections = [
            _purpose(material),
            one_by_one.section("testbed", _("What was measured on"), lambda: inventory.section(material)),
            one_by_one.section("method", _("Method"), lambda: method.section(material)),
            results,
            contrasted,
            analysis.problems(material, rests),
            analysis.findings(material, rests),
            _conclusion(material),
            appendix.section(material) if trials else None,
        ]
        return Document(
            kind="campaign",
            title=material.main.name,
            subtitle=_("Report of a measurement campaign"),
            language=language,
            sections=tuple(section for section in sections if section),
            meta=_meta(material),
            rests_on=_rests_on(material),
            summary=_summary(material, rests, results, contrasted),
        )


def _arrivals(material: Material) -> list[tuple[Campaign, BroughtIn]]:
    """Return what came from archives, and with whom."""
    came = ((campaign, campaign.arrival) for campaign in material.campaigns)
    return [(campaign, arrival) for campaign, arrival in came if arrival is not None]


def _meta(material: Material) -> tuple[tuple[str, str], ...]:
    """Return the lines of the title page."""
    first, last = material.period
    lines = [
        (_("Permanent id"), ", ".join(campaign.permanent_id for campaign in material.campaigns)),
        (_("Team"), material.main.team.name),
        (_("Origin"), material.main.origin_text),
        *((_("Brought in"), f"{item.permanent_id}: {arrival.text}") for item, arrival in _arrivals(material)),
    ]
    if first and last and not material.main.is_published:
        days = dict.fromkeys((f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}"))
        lines.append((_("Measured"), " – ".join(days)))
    lines.append((_("Extent"), method.extent(material)))
    return tuple(lines)


def _rests_on(material: Material) -> tuple[str, ...]:
    """Return the permanent ids of all that the report was made from."""
    refs = [f"campaign:{campaign.permanent_id}" for campaign in material.campaigns]
    refs += [f"campaign:{material.baseline.permanent_id}"] if material.baseline else []
    refs += [f"experiment:{item.campaign.permanent_id}/{item.position}" for item in material.experiments]
    refs += [ref for _finding, ref in material.findings]
    refs += [ref for _finding, ref, _change in material.outdated]
    verified = [item.of_campaign for finding, _ref in material.findings for item in finding.verifications.all()]
    refs += [f"campaign:{permanent_id}" for permanent_id in verified if permanent_id]
    return tuple(dict.fromkeys(refs))


def _summary(
    material: Material, rests: Grounds, results: Section | None, contrasted: Section | None
) -> tuple[Block, ...]:
    """Return what it comes to, and what the first figures show."""
    blocks: list[Block] = [*short.summary(material, rests)]
    for section in (results, contrasted):
        if section and (statements := _said(section)):
            blocks += [Paragraph((f"{section.title}:",)), Items(statements)]
    return tuple(blocks)


def _conclusion(material: Material) -> Section:
    return Section("conclusion", _("Conclusion"), short.conclusion(material))


def _said(section: Section) -> tuple[tuple[Part, ...], ...]:
    """Return what the first figures of a section show, each with the name of its part and with its claims."""
    lines = [
        (f"{part.title} – ", *spaced(block.says))
        for part in section.sections
        for block in part.blocks
        if isinstance(block, Figure) and block.says
    ]
    return tuple(lines[:MOST_SAID])


def _purpose(material: Material) -> Section:
    blocks: list[Block] = []
    for place, campaign in enumerate(material.campaigns):
        key = f"purpose-{place + 1}" if place else "purpose"
        goal = campaign.goal or _("No goal was written down.")
        text = (TextLink(campaign.name, f"campaign:{campaign.permanent_id}"), f": {goal}")
        # Words that an author replaces are plain; the first campaign's name is the title already.
        blocks.append(Paragraph((goal,) if not place else text, key=key))
        if campaign.publication.get("note"):
            blocks.append(Paragraph((campaign.publication["note"],), style="remark"))
        for remark in campaign.publication.get("remarks", ()):
            blocks.append(Paragraph((messages.render(remark),), style="remark"))
    return Section("purpose", _("Purpose"), tuple(blocks))


def _results(material: Material, one_by_one: Parts) -> Section:
    """Return a section for each experiment, those that vary nothing put together by tool."""
    numbered = dict(single.sections(material))
    runs = within.best_runs(material)

    def of(experiment: Experiment) -> Section:
        section = _with(_of_experiment(material, experiment), within.figures_of(material, [experiment], runs))
        return _with_printed(material, experiment, section)

    grouped = {
        item.pk for item in material.experiments if single.is_single(material, item) and material.metrics[item.pk]
    }
    parts: list[Section] = []
    for experiment in material.experiments:
        number = material.numbers[experiment.pk]
        if number in numbered:
            alike = [
                item
                for item in material.experiments
                if item.pk in grouped and (item.campaign_id, item.tool) == (experiment.campaign_id, experiment.tool)
            ]
            section = _with(numbered[number], within.figures_of(material, alike, runs))
            parts.append(_with_printed(material, experiment, section))
        elif experiment.pk not in grouped:
            key, title = f"experiment-{material.key(experiment)}", material.heading(experiment)
            part = one_by_one.section(key, title, partial(of, experiment))
            parts += [part] if part else []
    return Section("results", _("Results"), (), tuple(parts))


def _of_experiment(material: Material, experiment: Experiment) -> Section:
    key = f"experiment-{material.key(experiment)}"
    title = material.heading(experiment)
    if experiment.printed and not material.metrics[experiment.pk]:
        return Section(key, title)
    if not material.lanes[experiment.pk]:
        text = messages.render(experiment.refusal) if experiment.refusal else _("It was not carried out.")
        return Section(key, title, (Paragraph((text,), style="warning"),))
    return swept.section(material, experiment)


def _with(section: Section, blocks: Sequence[Block]) -> Section:
    return replace(section, blocks=(*section.blocks, *blocks))


def _with_printed(material: Material, experiment: Experiment, section: Section) -> Section:
    """Return a section with what a publication prints of its experiment without the figures."""
    items = printed.items_of(experiment, material.tool(experiment))
    if items is None:
        return section
    head = Paragraph((_("Printed without the figures:"),))
    return Section(section.key, section.title, (*section.blocks, head, items), section.sections)
