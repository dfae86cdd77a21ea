"""The words of each relation that a sentence may claim; a sentence is its relation's words with what it says."""

from collections.abc import Mapping

from django.utils.translation import gettext

from apps.bench.text import _
from apps.reports.claims import readings
from apps.reports.document import Claim, Sentence

VALUE, SAME, FLAT, MEASURED = "value", "same", "flat", "measured"
GROWS, FALLS, LEVELS_OFF = "grows", "falls", "levels-off"
HIGHEST_AT, HIGHEST_AMONG = "highest-at", "highest-among"
LOWEST_AT, LOWEST_AMONG = "lowest-at", "lowest-among"
BEST, TOP, UNLIKE = "best", "top", "unlike"
OVERALL_HIGHER, OVERALL_LOWER, OVERALL_ALIKE = "overall-higher", "overall-lower", "overall-alike"
OVERALL_MIXED, TOGETHER_HIGHER, TOGETHER_LOWER = "overall-mixed", "together-higher", "together-lower"
RATIOS, NEAREST, BEST_PAIR = "ratios", "nearest", "best-pair"
# What a claim says of two figures of which neither is zero, and of a figure that its ceiling bounds.
RATIO, SHARE, ALL = "ratio", "share", "100"
# From which place on a line that grows, or falls, has about what it ends with.
ALIKE_AT = "alike_at"
CEILING, INVENTORY, ABOVE = "ceiling", "inventory", "above-inventory"
TEXTS: Mapping[str, str] = {
    VALUE: _("%(metric)s: %(value)s."),
    SAME: _("%(metric)s is about the same everywhere, between %(low)s and %(high)s (%(test)s)."),
    FLAT: _("%(metric)s hardly depends on %(axis)s: it lies between %(low)s and %(high)s (%(test)s)."),
    MEASURED: _("%(metric)s was measured between %(low)s (%(low_place)s) and %(high)s (%(high_place)s); %(test)s."),
    HIGHEST_AT: _(
        "%(metric)s is highest at %(high_place)s (%(high)s) and lowest at %(low_place)s (%(low)s), × %(ratio)s"
        " (%(test)s)."
    ),
    HIGHEST_AMONG: _(
        "%(metric)s is highest at %(high_place)s (%(high)s), which cannot be told from %(rivals)s, and lowest at"
        " %(low_place)s (%(low)s), × %(ratio)s (%(test)s)."
    ),
    LOWEST_AT: _(
        "%(metric)s is lowest at %(low_place)s (%(low)s) and highest at %(high_place)s (%(high)s), × %(ratio)s"
        " (%(test)s)."
    ),
    LOWEST_AMONG: _(
        "%(metric)s is lowest at %(low_place)s (%(low)s), which cannot be told from %(rivals)s, and highest at"
        " %(high_place)s (%(high)s), × %(ratio)s (%(test)s)."
    ),
    GROWS: _(
        "%(metric)s grows from %(first)s at %(axis)s %(first_at)s to %(last)s at %(last_at)s (× %(ratio)s; %(test)s)."
    ),
    FALLS: _(
        "%(metric)s falls from %(first)s at %(axis)s %(first_at)s to %(last)s at %(last_at)s (× %(ratio)s; %(test)s)."
    ),
    LEVELS_OFF: _(
        "%(metric)s grows with %(axis)s and levels off at %(plateau)s, at the latest from %(at)s on: all that was"
        " measured from there on is within 5 %% of that (%(test)s)."
    ),
    BEST: _("The best of all is %(value)s with %(label)s at %(at)s (%(test)s)."),
    TOP: _(
        "The best figure measured is %(value)s with %(label)s at %(at)s; of %(others)s other places %(rivals)s cannot"
        " be told from it (%(test)s)."
    ),
    UNLIKE: _("These measurements differ in their nodes or file systems: they are not set against each other."),
    OVERALL_HIGHER: _(
        "At each of the %(settings)s common settings %(metric)s is higher than in the baseline (each by its own test,"
        " after Holm; n = %(n)s)."
    ),
    OVERALL_LOWER: _(
        "At each of the %(settings)s common settings %(metric)s is lower than in the baseline (each by its own test,"
        " after Holm; n = %(n)s)."
    ),
    OVERALL_MIXED: _(
        "Of %(settings)s common settings %(metric)s is higher than in the baseline at %(higher)s, lower at %(lower)s;"
        " of the others no difference can be told (each by its own test, after Holm; n = %(n)s)."
    ),
    TOGETHER_HIGHER: _(
        "All %(settings)s common settings together show %(metric)s higher than in the baseline, no single one does"
        " (%(p_text)s, n = %(n)s; above it in %(share)s %% of pairs)."
    ),
    TOGETHER_LOWER: _(
        "All %(settings)s common settings together show %(metric)s lower than in the baseline, no single one does"
        " (%(p_text)s, n = %(n)s; above it in %(share)s %% of pairs)."
    ),
    OVERALL_ALIKE: _(
        "Over all %(settings)s common settings no difference of %(metric)s from the baseline can be told (%(p_text)s,"
        " n = %(n)s; above it in %(share)s %% of pairs)."
    ),
    RATIOS: _("Setting by setting the ratio is between × %(low)s and × %(high)s."),
    NEAREST: _(
        "%(near)s comes nearest to its ceiling with %(most)s %%; %(far)s is farthest from it with %(least)s %%."
    ),
    BEST_PAIR: _("The best is %(pair)s with %(value)s."),
    CEILING: _("The highest is %(share)s %% of the path's ceiling of %(ceiling)s."),
    INVENTORY: _(
        "The highest is %(share)s %% of the %(ceiling)s that the inventory's links would carry; whether the path"
        " carries that was not shown."
    ),
    ABOVE: _(
        "The highest, %(value)s, is more than the %(ceiling)s that the inventory's links would carry: what it says of"
        " them is wrong, or the traffic took another way."
    ),
}
# The same without how many times the one figure is the other: from nothing on nothing is so many times as much.
WITHOUT_RATIO: Mapping[str, str] = {
    HIGHEST_AT: _(
        "%(metric)s is highest at %(high_place)s (%(high)s) and lowest at %(low_place)s (%(low)s; %(test)s)."
    ),
    HIGHEST_AMONG: _(
        "%(metric)s is highest at %(high_place)s (%(high)s), which cannot be told from %(rivals)s, and lowest at"
        " %(low_place)s (%(low)s; %(test)s)."
    ),
    LOWEST_AT: _(
        "%(metric)s is lowest at %(low_place)s (%(low)s) and highest at %(high_place)s (%(high)s; %(test)s)."
    ),
    LOWEST_AMONG: _(
        "%(metric)s is lowest at %(low_place)s (%(low)s), which cannot be told from %(rivals)s, and highest at"
        " %(high_place)s (%(high)s; %(test)s)."
    ),
    GROWS: _("%(metric)s grows from %(first)s at %(axis)s %(first_at)s to %(last)s at %(last_at)s (%(test)s)."),
    FALLS: _("%(metric)s falls from %(first)s at %(axis)s %(first_at)s to %(last)s at %(last_at)s (%(test)s)."),
}
# What follows where a line that grows, or falls, may have come to its end before its last place.
MAY_HAVE_ENDED = _(
    "From %(alike_at)s on all lies within 5 %% of the last: whether it goes on from there cannot be told."
)
# The same where the lowest figure and the highest are printed alike: there is no span between them.
AS_ONE: Mapping[str, str] = {
    MEASURED: _("%(metric)s was measured as %(low)s everywhere; %(test)s."),
    SAME: _("%(metric)s is %(low)s everywhere (%(test)s)."),
    FLAT: _("%(metric)s is %(low)s whatever %(axis)s is (%(test)s)."),
}
# The same where nothing is left of the ceiling, or no pair was described with less than it had.
ALL_OF_IT: Mapping[str, str] = {
    CEILING: _("The highest is all of the path's ceiling of %(ceiling)s."),
    NEAREST: _("%(near)s has all of its ceiling, or more than that; %(far)s is farthest from it with %(least)s %%."),
}
ALL_HAVE_ALL = _("All pairs have all of their ceilings, or more than that.")


def sentence(claim: Claim) -> Sentence:
    """Return a claim as a sentence of the present language."""
    return Sentence(text_of(claim), claim)


def text_of(claim: Claim) -> str:
    """Return the words of a claim in the present language; KeyError for a relation that is not known."""
    axis, says = claim.topic.axis, claim.says
    words: dict[str, object] = {"metric": claim.topic.metric, "axis": axis, **says}
    if "test" in says:
        words["test"] = readings.text_of(says)
    elif isinstance(p := says.get("p"), int | float):
        words["p_text"] = "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
    for end in ("low", "high"):
        words[f"{end}_place"] = f"{axis} {says.get(f'{end}_at', '')}".strip()
    texts = [_text_for(claim), *([MAY_HAVE_ENDED] if ALIKE_AT in says else [])]
    return " ".join(gettext(text) % words for text in texts)


def _text_for(claim: Claim) -> str:
    """Return a relation's words by what its claim can say: no empty figure or span, no more than all of a ceiling."""
    says, relation = claim.says, claim.relation
    if relation in WITHOUT_RATIO and RATIO not in says:
        return WITHOUT_RATIO[relation]
    if relation in AS_ONE and says.get("low") == says.get("high"):
        return AS_ONE[relation]
    if relation == NEAREST and says.get("least") == ALL:
        return ALL_HAVE_ALL
    if relation in ALL_OF_IT and ALL in (says.get(SHARE), says.get("most")):
        return ALL_OF_IT[relation]
    return TEXTS[relation]
