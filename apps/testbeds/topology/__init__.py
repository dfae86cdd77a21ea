"""The network of a site, a team or a set of nodes as an SVG."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from apps.accounts.models import Team
from apps.testbeds.models import Node, Site
from apps.testbeds.obstacles import obstacles
from apps.testbeds.topology import layout, parts, picture, svg


def topology_svg(
    *,
    nodes: Sequence[Node] | None = None,
    site: Site | None = None,
    team: Team | None = None,
    busy: Collection[int] = (),
    bottleneck: str = "",
    are_needed: bool = False,
) -> SafeString:
    """Return the drawing of a set of nodes and the links between them, of a site, or of a team; "" if it is empty.

    Of what is too large to be read a sentence that says so, and where to look instead.

    `busy` are the ids of nodes that are at work. Nodes with a fault are marked, and if they `are_needed` now, all
    that could not measure. The link that limits the paths shown stands out; `bottleneck` is its key ("link:7") where
    the caller knows it, else it is found. The page needs `css/topology.css`.
    """
    try:
        if nodes is not None:
            drawn = picture.of_nodes(nodes, busy, bottleneck)
        elif site is not None:
            drawn = picture.of_site(site, busy, bottleneck)
        elif team is not None:
            drawn = picture.of_team(team, busy, bottleneck)
        else:
            raise TypeError("topology_svg needs nodes, a site or a team")
    except picture.TooLargeError:
        return format_html('<p class="topology-left-out mb-0">{}</p>', left_out())
    if not drawn.boxes:
        return mark_safe("")
    keeping = obstacles(nodes=drawn.node_ids, now=timezone.now())
    marked = drawn.marked({pk: obstacle for pk, obstacle in keeping.items() if obstacle.is_fault or are_needed})
    return svg.render(marked, layout.place(marked))


def left_out() -> str:
    """Return what is said instead of a drawing that nobody could read."""
    return _(
        "This network is not drawn: it has more than %(boxes)s boxes or %(lines)s lines. The page of a path between "
        "two nodes draws what lies between them; the lists of switches and links have all."
    ) % {"boxes": picture.MOST_BOXES, "lines": picture.MOST_LINES}


# The colours of `css/topology.css` on paper, for readers of SVG that know neither variables nor our style sheets.
_ON_PAPER = (
    ".topology{font-family:NanumGothic,sans-serif;font-size:13px}"
    ".topology text{fill:#212529}"
    ".topology-site rect{fill:#f3f4f6;stroke:#c9ced4}"
    ".topology .topology-site text{font-size:11px;fill:#4c5661}"
    ".topology-box rect{fill:#ffffff;stroke:#4c5661;stroke-width:1.25}"
    ".topology-switch rect{fill:#dcedf5;stroke:#0b5a7a}"
    ".topology-stack{fill:none;stroke:#4c5661}"
    ".topology-sign{fill:none;stroke:#0b5a7a;stroke-width:1.25}"
    ".topology-name{font-weight:600}"
    ".topology .topology-detail,.topology .topology-figure{font-size:11px}"
    ".topology .topology-detail{fill:#4c5661}"
    ".topology-figure{text-anchor:middle}"
    ".topology-line path{fill:none;stroke:#4c5661;stroke-width:1.5}"
    ".topology-line .topology-wide{stroke:none}"
    ".topology-bottleneck path{stroke:#c2571a;stroke-width:3}"
    ".topology .topology-bottleneck .topology-figure{fill:#c2571a;font-weight:700}"
)


def standalone_svg(nodes: Sequence[Node]) -> tuple[str, str]:
    """Return a drawing of nodes and the links between them that needs no page about it, and what it shows in words.

    It leads nowhere and holds no number of this database; ("", "") if there is nothing to draw, and no drawing but
    words that say why, if it is too large to be read.
    """
    try:
        drawn = picture.of_nodes(nodes)
    except picture.TooLargeError:
        return "", left_out()
    if not drawn.boxes:
        return "", ""
    plain = parts.Picture(
        boxes={key: replace(box, url="") for key, box in drawn.boxes.items()},
        lines=tuple(replace(line, url="") for line in drawn.lines),
    )
    return str(svg.render(plain, layout.place(plain), _ON_PAPER)), svg.describe(plain)
