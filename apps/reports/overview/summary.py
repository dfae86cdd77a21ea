"""The page that is read first: what was done in sentences, the figures that count, and what deserves attention."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.reports.claims import counted
from apps.reports.columns import quantity
from apps.reports.document import Block, Column, Items, Link, Paragraph, Part, Sentence, Table, Value, spaced
from apps.reports.overview import outcomes, work
from apps.reports.overview.material import Material

# What is named of each kind: all of it must stand on one page.
MOST = 3
# The table that the sentences quote.
KEY_FIGURES = "key-figures"


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
    said = [_quoted(text, _("Trials"), f"{total.trials:,}")]
    if total.success is not None:
        share = f"{100 * total.success:.3g}"
        text = _("%(share)s %% of those carried out succeeded.") % {"share": share}
        said.append(_quoted(text, _("Success"), f"{share} %"))
    worse = len(made.changes.of(worse=True))
    if worse:
        text = ngettext("%(n)s regression was found.", "%(n)s regressions were found.", worse)
        said.append(_quoted(text % {"n": f"{worse:,}"}, _("Regressions"), f"{worse:,}"))
    found = made.conclusions
    if found.best and found.best.gain:
        text = ngettext(
            "%(n)s recommendation was verified; it gained ×%(gain)s.",
            "%(n)s recommendations were verified; the largest gain was ×%(gain)s.",
            found.verified_count,
        )
        number = f"{found.verified_count:,}"
        text %= {"n": number, "gain": f"{found.best.gain:.3g}"}
        said.append(_quoted(text, _("Verified in the period"), number))
    return spaced(said)


def _quoted(text: str, name: str, value: str) -> Sentence:
    return counted.quote(text, KEY_FIGURES, 1, name, value)


def _figures(made: Material) -> Table:
    """Return the figures that count, one a line."""
    total, states = made.activity.total, made.conclusions.states
    moved = work.moved_of(made)
    pairs = {item.places for item in made.figures.between_sites}
    rows: list[list[Value | Link]] = [
        [_("Campaigns"), f"{len(total.campaigns):,}"],
        [_("Trials"), f"{total.trials:,}"],
        [_("Trials measured"), f"{total.progress.measured:,}"],
        [_("Success"), "–" if total.success is None else f"{100 * total.success:.3g} %"],
        [_("Node-hours"), f"{total.node_s / work.HOUR_S:,.3g} h"],
        [_("Data moved"), quantity(moved, "B")],
        [_("Pairs of sites with valid figures"), f"{len(pairs):,}"],
        [_("Regressions"), f"{len(made.changes.of(worse=True)):,}"],
        [_("Open recommendations"), f"{states['new']:,}"],
        [_("Accepted recommendations"), f"{states['accepted']:,}"],
        [_("Verified in the period"), f"{made.conclusions.verified_count:,}"],
    ]
    return Table(KEY_FIGURES, _("Key figures"), (Column(_("What")), Column(_("Value"))), rows)


def _attention(made: Material) -> list[tuple[Part, ...]]:
    """Return the largest regressions, what was gained most, and what is still to be gained."""
    items: list[tuple[Part, ...]] = []
    for change in sorted(made.changes.of(worse=True), key=lambda item: -abs(outcomes.percent(item)))[:MOST]:
        words = {
            "tool": change.tool.name,
            "place": outcomes.place_of(made, change),
            "before": quantity(change.before, change.metric.unit),
            "after": quantity(change.after, change.metric.unit),
        }
        text = _("Regression: %(tool)s, %(place)s, from %(before)s to %(after)s") % words
        items.append((f"{text}: ", outcomes.campaign_link(made, change)))
    for item in made.conclusions.verified[:MOST]:
        gain = " – " + _("realised gain ×%(gain)s") % {"gain": f"{item.gain:.3g}"}
        items.append((f"{_('Verified')}: ", outcomes.link_of(made, item.finding), gain))
    for finding in made.conclusions.open[:MOST]:
        if finding.predicted_gain:
            gain = " – " + _("predicted gain ×%(gain)s") % {"gain": f"{finding.predicted_gain:.3g}"}
            items.append((_("Open") + ": ", outcomes.link_of(made, finding), gain))
    return items
