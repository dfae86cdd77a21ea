"""The network of a site, a team or a set of nodes as an SVG."""

from collections.abc import Collection, Sequence

from django.utils.safestring import SafeString, mark_safe

from apps.accounts.models import Team
from apps.testbeds.models import Node, Site
from apps.testbeds.topology import layout, picture, svg


def topology_svg(
    *,
    nodes: Sequence[Node] | None = None,
    site: Site | None = None,
    team: Team | None = None,
    busy: Collection[int] = (),
    bottleneck: str = "",
) -> SafeString:
    """Return the drawing of a set of nodes and the links between them, of a site, or of a team; "" if it is empty.

    `busy` are the ids of nodes that are at work. The link that limits the paths shown stands out; `bottleneck` is
    its key ("link:7") where the caller knows it, else it is found. The page needs `css/topology.css`.
    """
    if nodes is not None:
        drawn = picture.of_nodes(nodes, busy, bottleneck)
    elif site is not None:
        drawn = picture.of_site(site, busy, bottleneck)
    elif team is not None:
        drawn = picture.of_team(team, busy, bottleneck)
    else:
        raise TypeError("topology_svg needs nodes, a site or a team")
    return svg.render(drawn, layout.place(drawn)) if drawn.boxes else mark_safe("")
