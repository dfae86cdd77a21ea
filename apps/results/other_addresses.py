"""Figures of nodes that had another address than when their experiment first measured them."""

from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Reading
from apps.bench.validity import add_flags
from apps.campaigns.models import Run
from apps.testbeds.models import Node

FLAG = "address-changed"
_WORDS = _(
    "The address of %(nodes)s was changed after the first trials of this experiment: this one measured another "
    "interface, or another way, than those did."
)


def judge(reading: Reading, run: Run) -> Reading:
    """Return the reading of a run, flagged if its nodes had others than the first addresses of its lane."""
    now, first_addresses = (run.plan or {}).get("addresses", {}), run.trial.lane.addresses
    if not now or not first_addresses or now == first_addresses[0]:
        return reading
    nodes_moved = [pk for pk, address in now.items() if first_addresses[0].get(pk) != address]
    names = Node.objects.filter(pk__in=nodes_moved).order_by("name").values_list("name", flat=True)
    return add_flags(reading, [Flag(FLAG, "warning", Message(_WORDS, {"nodes": ", ".join(names)}))], {})
