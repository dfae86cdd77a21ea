"""Trends of reading that the servers' memory may have given: they tell of neither disks nor file system."""

from dataclasses import replace

from apps.bench.rules.base import DOUBT, FindingDraft
from apps.bench.rules.shapes import CLIENTS, RECORD, Curve
from apps.bench.rules.weight import MOST
from apps.bench.text import Message, _

_TITLES = {
    RECORD: _("What the record size does to %(name)s (%(way)s) is not told: the servers' memory may have been read"),
    CLIENTS: _("How %(name)s goes with the clients (%(way)s) is not told: the servers' memory may have been read"),
}
_OF_TASKS = _("How %(name)s goes with the tasks (%(way)s) is not told: the servers' memory may have been read")


def with_doubt(draft: FindingDraft, curve: Curve | None) -> FindingDraft:
    """Return a finding on a curve; the doubt in it where a judge saw that some of its figures may be of memory.

    Whether all of them are, or only those of some values, it is no word on what lies on disks.
    """
    if curve is None or not curve.of_memory:
        return draft
    text = _(
        "Of %(flagged)s of %(count)s settings the servers' memory had room for what was read after it was written"
        " (cached-by-server)."
    )
    params = {"flagged": len(curve.of_memory), "count": len(curve.cells)}
    again = _("The same with more data than the servers' memory holds, or with that freed before each reading.")
    return replace(
        draft,
        kind=DOUBT,
        title=Message(_TITLES.get(curve.factor, _OF_TASKS), draft.title.params),
        # The figures stay; what follows of them for disks and network does not.
        why=(*draft.why[:1], Message(text, params)),
        change="",
        undo="",
        is_comparison=False,
        compared_title=None,
        present=None,
        tried=None,
        predicted=None,
        predicted_interval=None,
        confidence=min(draft.confidence, MOST),
        missing=(Message(again),),
        proposals=(),
        proof=None,
        question="",
    )
