"""Which addresses count as their nodes': the one place that says whom agents may be told to call."""

from collections.abc import Collection

from apps.testbeds.models import NodeAddress


def counting(*, teams: Collection[int], addresses: Collection[str]) -> set[str]:
    """Return those of the addresses that count as one of a node of these teams (`NodeAddress.counts`)."""
    rows = NodeAddress.objects.filter(node__team__in=teams, address__in=addresses) if addresses else ()
    return {row.address for row in rows if row.counts}
