"""The page that is read first: what was done in sentences, the figures that count, and what deserves attention."""

from collections.abc import Iterable, Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.campaigns.queries import Progress
from apps.reports.claims import counted
from apps.reports.columns import quantity
from apps.reports.document import Block, Column, Items, Link, Paragraph, Part, Sentence, Table, Value, spaced
from apps.reports.overview import outcomes, work
from apps.reports.overview.material import Material

# What is named of each kind: all of it must stand on one page.
MOST = 3


def blocks(made: Material) -> tuple[Block, ...]:
    """Return the summary."""
    found: list[Block] = [Paragraph(_done(made), key="summary")]
    if made.unfinished:
        text = ngettext(
            "Of %(n)s campaign not all conclusions are drawn: see the findings.",
            "Of %(n)s campaigns not all conclusions are drawn: see the findings.",
            len(made.unfinished),
        )
        found.append(Paragraph((text % {"n": f"{len(made.unfinished):,}"},), style="warning"))
    found.append(_figures(made))
    if attention := _attention(made):
        found += [Paragraph((_("What deserves attention:"),)), Items(tuple(attention))]
    return tuple(found)


def _done(made: Material) -> tuple[Part, ...]:
    """Return what was done in sentences, each of which quotes the key figures."""
    total = made.activity.total
    count = f"{len(total.campaigns):,}"
    campaigns = ngettext("%(n)s campaign", "%(n)s campaigns", len(total.campaigns)) % {"n": count}
    trials = ngettext("%(n)s trial", "%(n)s trials", total.trials) % {"n": f"{total.trials:,}"}
    words = {"campaigns": campaigns, "trials": trials, "period": made.scope.period.text}
    words["outcomes"] = total.progress.outcomes
    text = _("From %(period)s %(campaigns)s brought %(trials)s to their end: %(outcomes)s.") % words
    told = {_("Campaigns"): count, _("Trials"): f"{total.trials:,}"}
    said = [_quoted(text, told | {name: f"{number:,}" for name, number in _ends(total.progress) if number})]
    if total.success is not None:
        share = f"{100 * total.success:.3g} %"
        text = _("%(share)s %% of those carried out succeeded.") % {"share": share.removesuffix(" %")}
        said.append(_quoted(text, {_("Success"): share}))
    worse = len(made.changes.of(worse=True))
    if worse:
        text = ngettext("%(n)s regression was found.", "%(n)s regressions were found.", worse)
        said.append(_quoted(text % {"n": f"{worse:,}"}, {_("Regressions"): f"{worse:,}"}))
    found = made.conclusions
    if found.best and found.best.gain:
        text = ngettext(
            "%(n)s recommendation was verified; it gained ×%(gain)s.",
            "%(n)s recommendations were verified; the largest gain was ×%(gain)s.",
            found.verified_count,
        )
        number, gain = f"{found.verified_count:,}", f"{found.best.gain:.3g}"
        told = {_("Verified in the period"): number, _("Largest realised gain (ratio)"): gain}
        said.append(_quoted(text % {"n": number, "gain": gain}, told))
    return spaced(said)


def _quoted(text: str, values: Mapping[str, str]) -> Sentence:
    return counted.rows(text, outcomes.KEY_FIGURES, 1, values)


def _ends(progress: Progress) -> list[tuple[str, int]]:
    """Return the names of the rows that say how trials ended, with how many did."""
    return [
        (_("Trials measured"), progress.measured),
        (_("Trials failed"), progress.failed),
        (_("Trials not measured"), progress.not_measured),
    ]


def _rows_of(told: Iterable[tuple[str, str]]) -> list[list[Value | Link]]:
    return [[name, number] for name, number in told]


def _figures(made: Material) -> Table:
    """Return the figures that count, one a line."""
    total, states = made.activity.total, made.conclusions.states
    pairs = {item.places for item in made.figures.between_sites}
    rows: list[list[Value | Link]] = [
        [_("Campaigns"), f"{len(total.campaigns):,}"],
        [_("Trials"), f"{total.trials:,}"],
        *_rows_of((name, f"{number:,}") for name, number in _ends(total.progress)),
        [_("Success"), "–" if total.success is None else f"{100 * total.success:.3g} %"],
        [_("Node-hours"), f"{total.node_s / work.HOUR_S:,.3g} h"],
        [_("Data moved"), work.moved_text(made)],
        [_("Pairs of sites with valid figures"), f"{len(pairs):,}"],
        *_rows_of(outcomes.histories_of(made.changes)),
        [_("Regressions"), f"{len(made.changes.of(worse=True)):,}"],
        [_("Open recommendations"), f"{states['new']:,}"],
        [_("Accepted recommendations"), f"{states['accepted']:,}"],
        [_("Verified in the period"), f"{made.conclusions.verified_count:,}"],
    ]
    if (best := made.conclusions.best) and best.gain:
        rows.append([_("Largest realised gain (ratio)"), f"{best.gain:.3g}"])
    return Table(outcomes.KEY_FIGURES, _("Key figures"), (Column(_("What")), Column(_("Value"))), rows)


def _attention(made: Material) -> list[tuple[Part, ...]]:
    """Return the largest regressions, what was gained most, and what is still to be gained."""
    items: list[tuple[Part, ...]] = []
    # Of those that the tables list, which number them.
    worse = list(enumerate(made.changes.of(worse=True)[: outcomes.MOST_CHANGES], start=1))
    for number, change in sorted(worse, key=lambda item: -abs(outcomes.percent(item[1])))[:MOST]:
        words = {
            "tool": change.tool.name,
            "place": outcomes.place_of(made, change),
            "before": quantity(change.before, change.metric.unit),
            "after": quantity(change.after, change.metric.unit),
        }
        text = _("Regression: %(tool)s, %(place)s, from %(before)s to %(after)s") % words
        told = {outcomes.BEFORE: words["before"], outcomes.AFTER: words["after"]}
        said = counted.cells(f"{text}: ", outcomes.REGRESSIONS, str(number), told)
        items.append((said, outcomes.campaign_link(made, change)))
    for number, item in enumerate(made.conclusions.verified[:MOST], start=1):
        gain = f"{item.gain:.3g}"
        text = " – " + _("realised gain ×%(gain)s") % {"gain": gain}
        said = counted.quote(text, outcomes.VERIFIED, outcomes.REALISED, str(number), gain)
        items.append((f"{_('Verified')}: ", outcomes.link_of(made, item.finding, outcomes.VERIFIED, number), said))
    for number, finding in enumerate(made.conclusions.open[:MOST], start=1):
        if finding.predicted_gain:
            gain = f"{finding.predicted_gain:.3g}"
            text = " – " + _("predicted gain ×%(gain)s") % {"gain": gain}
            said = counted.quote(text, outcomes.OPEN, outcomes.PREDICTED, str(number), gain)
            items.append((_("Open") + ": ", outcomes.link_of(made, finding, outcomes.OPEN, number), said))
    return items
