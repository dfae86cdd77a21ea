"""What a campaign comes to: the counts and the problems in the summary, what to do in the conclusion."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.core import messages
from apps.reports.campaign.analysis import CHANGES, PROBLEMS, STATE, gain_of
from apps.reports.campaign.conclusions import (
    Conclusion,
    changes_of,
    kept_of,
    open_questions,
    outdated_of,
    problems_of,
)
from apps.reports.campaign.grounds import Ground, Grounds
from apps.reports.campaign.material import Material
from apps.reports.claims import counted
from apps.reports.document import Block, Items, Paragraph, Part
from apps.tuning.models import Finding

# The summary names so many of each; the rest stands in the sections before.
MOST_IN_SHORT = 5


def summary(material: Material, grounds: Grounds) -> tuple[Block, ...]:
    """Return how many problems and changes there are, and the first of them."""
    blocks: list[Block] = [*open_questions(material)]
    problems, changes = problems_of(material), changes_of(material)
    if problems or changes or material.is_concluded:
        blocks.append(Paragraph(_counted(problems, changes), key="summary"))
    lines: list[tuple[Part, ...]] = [item.line for item in problems[:MOST_IN_SHORT]]
    for number, item in enumerate(changes[:MOST_IN_SHORT], start=1):
        pk = item.first.pk
        gain = gain_of(item.first, number, grounds.own[pk])
        lines.append((*item.line, *gain, *_also(grounds.parts[pk])))
    return (*blocks, Items(tuple(lines))) if lines else tuple(blocks)


def conclusion(material: Material) -> tuple[Block, ...]:
    """Return the authors' own words of a publication, then what to do: change, keep, and measure still."""
    blocks = [*open_questions(material)]
    published = [campaign for campaign in material.campaigns if campaign.publication.get("conclusion")]
    for place, campaign in enumerate(published):
        text = _("The authors conclude: %(text)s") % {"text": campaign.publication["conclusion"]}
        blocks.append(Paragraph((text,), key=f"conclusion-authors-{place + 1}", style="remark"))
    changes, unchanged = changes_of(material), kept_of(material)
    if changes:
        blocks.append(Paragraph((_("To be done, the surest first:"),), key="conclusion"))
        blocks.append(Items(tuple((*item.line, *_standing(item)) for item in changes), ordered=True))
    elif material.is_concluded:
        blocks.append(Paragraph((_("Nothing is to be changed by what was measured."),), key="conclusion"))
    if unchanged:
        blocks.append(Paragraph((_("To be kept as it is:"),)))
        blocks.append(Items(tuple(item.line for item in unchanged)))
    if earlier := outdated_of(material):
        blocks.append(Paragraph((_("Concluded earlier, and no longer so:"),)))
        blocks.append(Items(tuple(earlier)))
    if missing := _missing(problems_of(material)):
        blocks.append(Paragraph((_("To be measured still:"),)))
        blocks.append(Items(tuple((text,) for text in missing)))
    return tuple(blocks)


def _also(parts: Sequence[Ground]) -> tuple[Part, ...]:
    """Return what else was proposed for the same question, by its titles."""
    if not parts:
        return ()
    # What stands before and behind the titles, in the order of the language.
    before, _titles, after = _("for the same question also: %(titles)s").partition("%(titles)s")
    titles: list[Part] = [part for ground in parts for part in ("; ", ground.said)][1:]
    return (f" ({before}", *titles, f"{after})")


def _counted(diagnoses: Sequence[Conclusion], changes: Sequence[Conclusion]) -> tuple[Part, ...]:
    """Return how many there are, each count a sentence about its table."""
    if not diagnoses and not changes:
        return (_("Nothing was found that holds the measured rates back, and no change is recommended."),)
    problems = ngettext("%(n)s problem was found", "%(n)s problems were found", len(diagnoses)) % {
        "n": len(diagnoses)
    }
    advice = ngettext("%(n)s change is recommended", "%(n)s changes are recommended", len(changes))
    verified_findings = [item.first for item in changes if item.first.state == Finding.State.VERIFIED]
    elsewhere = sum(bool(finding.judged_elsewhere) for finding in verified_findings)
    verified = len(verified_findings) - elsewhere
    parts: list[Part] = [
        counted.count(problems, len(diagnoses), PROBLEMS),
        "; ",
        counted.count(advice % {"n": len(changes)}, len(changes), CHANGES),
    ]
    if verified:
        proved = ngettext("%(n)s was verified by measuring", "%(n)s were verified by measuring", verified)
        state = str(Finding.State.VERIFIED.label)
        parts += [", ", counted.count(proved % {"n": verified}, verified, CHANGES, (STATE, state))]
    if elsewhere:
        proved = ngettext("%(n)s was verified elsewhere", "%(n)s were verified elsewhere", elsewhere)
        state = _("verified elsewhere")
        parts += [", ", counted.count(proved % {"n": elsewhere}, elsewhere, CHANGES, (STATE, state))]
    return (*parts, ".")


def _standing(item: Conclusion) -> tuple[Part, ...]:
    """Return whether a change was measured already, and where if that was not here."""
    if origin := item.first.judged_elsewhere:
        return (" – " + _("verified by measuring elsewhere, imported from %(origin)s") % {"origin": origin},)
    texts = {
        Finding.State.VERIFIED: _("verified by measuring"),
        Finding.State.ACCEPTED: _("accepted, not verified yet"),
    }
    text = texts.get(Finding.State(item.first.state), _("not verified yet"))
    return (f" – {text}",)


def _missing(problems: Sequence[Conclusion]) -> list[str]:
    """Return what the first problems say is still unmeasured, each once."""
    lines = [line for item in problems for line in item.first.details.get("missing", ())]
    return list(dict.fromkeys(messages.render(line) for line in lines))[:MOST_IN_SHORT]
