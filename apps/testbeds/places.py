"""Where things stand: what was measured with a node was measured at its site, so it does not move to another."""

from collections.abc import Collection

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from apps.accounts.models import TeamOwned
from apps.testbeds.models import Node, Testbed


def measured_with(nodes: Collection[int]) -> str:
    """Return the name of a campaign that measured, or is to measure, with one of the nodes; "" if there is none.

    The inventory knows nothing of campaigns: NODE_MEASUREMENTS names a function of the same signature that does.
    """
    return import_string(settings.NODE_MEASUREMENTS)(nodes) if nodes else ""


def refusal_to_move(item: TeamOwned) -> dict[str, str]:
    """Return {field: why} if a node or testbed, as it is set now, would take results to another site."""
    if isinstance(item, Node):
        before = Node.objects.filter(pk=item.pk).values_list("testbed__site", flat=True).first()
        field, site, nodes = "testbed", item.testbed.site_id, [item.pk]
    elif isinstance(item, Testbed):
        before = Testbed.objects.filter(pk=item.pk).values_list("site", flat=True).first()
        field, site, nodes = "site", item.site_id, []
    else:
        return {}
    if before is None or before == site:
        return {}
    nodes = nodes or list(Node.objects.filter(testbed=item.pk).values_list("pk", flat=True))
    if not (campaign := measured_with(nodes)):
        return {}
    text = _(
        "“%(campaign)s” measured at the site as it is, and its figures would stand at another: "
        "make a new %(kind)s there, and leave this one."
    )
    return {field: text % {"campaign": campaign, "kind": item._meta.verbose_name}}
