"""The page that is read first: what was done in sentences, the figures that count, and what deserves attention."""

from collections.abc import Iterable, Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.campaigns.queries import Progress
from apps.reports.claims import counted
from apps.reports.columns import quantity
from apps.reports.document import Block, Column, Items, Paragraph, Part, Sentence, Table, TextLink, Value, spaced
from apps.reports.overview import outcomes, work
from apps.reports.overview.material import OverviewMaterial

# What is named of each kind: all of it must stand on one page.
MOST = 3


def blocks(material: OverviewMaterial) -> tuple[Block, ...]:
    """Return the summary."""
    blocks_of_summary: list[Block] = [Paragraph(_done(material), key="summary")]
    if material.unfinished:
        text = ngettext(
            "Of %(n)s campaign not all conclusions are drawn: see the findings.",
            "Of %(n)s campaigns not all conclusions are drawn: see the findings.",
            len(material.unfinished),
        )
        blocks_of_summary.append(Paragraph((text % {"n": f"{len(material.unfinished):,}"},), style="warning"))
    blocks_of_summary.append(_figures(material))
    if attention := _attention(material):
        blocks_of_summary += [Paragraph((_("What deserves attention:"),)), Items(tuple(attention))]
    return tuple(blocks_of_summary)


def _done(material: OverviewMaterial) -> tuple[Part, ...]:
    """Return what was done in sentences, each of which quotes the key figures."""
    total = material.activity.total
    count = f"{len(total.campaigns):,}"
    campaigns = ngettext("%(n)s campaign", "%(n)s campaigns", len(total.campaigns)) % {"n": count}
    trials = ngettext("%(n)s trial", "%(n)s trials", total.trials) % {"n": f"{total.trials:,}"}
    words = {"campaigns": campaigns, "trials": trials, "period": material.scope.period.text}
    words["outcomes"] = total.progress.outcomes
    text = _("From %(period)s %(campaigns)s brought %(trials)s to their end: %(outcomes)s.") % words
    figures_quoted = {_("Campaigns"): count, _("Trials"): f"{total.trials:,}"}
    sentences = [
        _quoted(text, figures_quoted | {name: f"{number:,}" for name, number in _ends(total.progress) if number})
    ]
    if total.success is not None:
        share = f"{100 * total.success:.3g} %"
        text = _("%(share)s %% of those carried out succeeded.") % {"share": share.removesuffix(" %")}
        sentences.append(_quoted(text, {_("Success"): share}))
    worse = len(material.changes.of(worse=True))
    if worse:
        text = ngettext("%(n)s regression was found.", "%(n)s regressions were found.", worse)
        sentences.append(_quoted(text % {"n": f"{worse:,}"}, {_("Regressions"): f"{worse:,}"}))
    conclusions = material.conclusions
    if conclusions.best and conclusions.best.gain:
        text = ngettext(
            "%(n)s recommendation was verified; it gained ×%(gain)s.",
            "%(n)s recommendations were verified; the largest gain was ×%(gain)s.",
            conclusions.verified_count,
        )
        number, gain = f"{conclusions.verified_count:,}", f"{conclusions.best.gain:.3g}"
        figures_quoted = {_("Verified in the period"): number, _("Largest realised gain (ratio)"): gain}
        sentences.append(_quoted(text % {"n": number, "gain": gain}, figures_quoted))
    return spaced(sentences)


def _quoted(text: str, values: Mapping[str, str]) -> Sentence:
    return counted.rows(text, outcomes.KEY_FIGURES, 1, values)


def _ends(progress: Progress) -> list[tuple[str, int]]:
    """Return the names of the rows that say how trials ended, with how many did."""
    return [
        (_("Trials measured"), progress.measured),
        (_("Trials failed"), progress.failed),
        (_("Trials not measured"), progress.not_measured),
    ]


def _rows_of(pairs: Iterable[tuple[str, str]]) -> list[list[Value | TextLink]]:
    return [[name, number] for name, number in pairs]


def _figures(material: OverviewMaterial) -> Table:
    """Return the figures that count, one a line."""
    total, states = material.activity.total, material.conclusions.states
    pairs = {item.places for item in material.figures.between_sites}
    rows: list[list[Value | TextLink]] = [
        [_("Campaigns"), f"{len(total.campaigns):,}"],
        [_("Trials"), f"{total.trials:,}"],
        *_rows_of((name, f"{number:,}") for name, number in _ends(total.progress)),
        [_("Success"), "–" if total.success is None else f"{100 * total.success:.3g} %"],
        [_("Node-hours"), f"{total.node_s / work.HOUR_S:,.3g} h"],
        [_("Data moved"), work.moved_text(material)],
        [_("Pairs of sites with valid figures"), f"{len(pairs):,}"],
        *_rows_of(outcomes.histories_of(material.changes)),
        [_("Regressions"), f"{len(material.changes.of(worse=True)):,}"],
        [_("Open recommendations"), f"{states['new']:,}"],
        [_("Accepted recommendations"), f"{states['accepted']:,}"],
        [_("Verified in the period"), f"{material.conclusions.verified_count:,}"],
    ]
    if (best := material.conclusions.best) and best.gain:
        rows.append([_("Largest realised gain (ratio)"), f"{best.gain:.3g}"])
    return Table(outcomes.KEY_FIGURES, _("Key figures"), (Column(_("What")), Column(_("Value"))), rows)


def _attention(material: OverviewMaterial) -> list[tuple[Part, ...]]:
    """Return the largest regressions, what was gained most, and what is still to be gained."""
    items: list[tuple[Part, ...]] = []
    # Of those that the tables list, which number them.
    worse = list(enumerate(material.changes.of(worse=True)[: outcomes.MOST_CHANGES], start=1))
    for number, change in sorted(worse, key=lambda item: -abs(outcomes.percent(item[1])))[:MOST]:
        words = {
            "tool": change.tool.name,
            "place": outcomes.place_of(material, change),
            "before": quantity(change.before, change.metric.unit),
            "after": quantity(change.after, change.metric.unit),
        }
        text = _("Regression: %(tool)s, %(place)s, from %(before)s to %(after)s") % words
        cells = {outcomes.BEFORE: words["before"], outcomes.AFTER: words["after"]}
        sentence = counted.cells(f"{text}: ", outcomes.REGRESSIONS, str(number), cells)
        items.append((sentence, outcomes.campaign_link(material, change)))
    for number, item in enumerate(material.conclusions.verified[:MOST], start=1):
        gain = f"{item.gain:.3g}"
        text = " – " + _("realised gain ×%(gain)s") % {"gain": gain}
        sentence = counted.quote(text, outcomes.VERIFIED, outcomes.REALISED, str(number), gain)
        items.append(
            (f"{_('Verified')}: ", outcomes.link_of(material, item.finding, outcomes.VERIFIED, number), sentence)
        )
    for number, finding in enumerate(material.conclusions.open[:MOST], start=1):
        if finding.predicted_gain:
            gain = f"{finding.predicted_gain:.3g}"
            text = " – " + _("predicted gain ×%(gain)s") % {"gain": gain}
            sentence = counted.quote(text, outcomes.OPEN, outcomes.PREDICTED, str(number), gain)
            items.append((_("Open") + ": ", outcomes.link_of(material, finding, outcomes.OPEN, number), sentence))
    return items
