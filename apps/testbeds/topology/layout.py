"""Where the boxes of a drawing stand: switches in layers from left to right, each with its nodes below it."""

import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from apps.bench import units
from apps.testbeds.topology.parts import DrawnBox, DrawnLinks, Picture

# All measures are in pixels of the drawing at its natural size.
MARGIN = 12
BOX_HEIGHT = 46
GAP = 14
# From the edge of a site's field to the boxes in it; above them stands the site's name.
FIELD = 12
FIELD_TITLE = 22
INDENT = 18
LETTER = 7.6
SMALL_LETTER = 6.3
LONGEST_TEXT = 30
# Boxes without any line are laid in rows of this width.
ROW = 900


@dataclass(frozen=True)
class Spot:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Return the x of the right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Return the y of the lower side."""
        return self.y + self.height

    @property
    def middle(self) -> float:
        """Return the y half way down."""
        return self.y + self.height / 2


@dataclass(frozen=True)
class Layout:
    """The spots of boxes by key, the fields of sites with their names, and the size of the whole.

    `parents` tells below which box a box of nodes hangs.
    """

    spots: Mapping[str, Spot]
    fields: tuple[tuple[str, Spot], ...]
    parents: Mapping[str, str]
    width: float
    height: float


def figures(line: DrawnLinks) -> str:
    """Return what is written at a line: "4 × 1 Gbit/s · 4.80 ms"."""
    parts = [units.format_quantity(line.capacity_bps, "bit/s")] if line.capacity_bps else []
    if line.count > 1:
        parts = [f"{line.count} × {parts[0]}" if parts else f"{line.count} ×"]
    if line.rtt_s:
        parts.append(units.format_quantity(line.rtt_s, "s"))
    return " · ".join(parts)


def shown(text: str) -> str:
    """Return a text as it fits into a box."""
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def fitted(text: str, width: float) -> str:
    """Return as much of a small text as is at most so wide."""
    if text_width(text, SMALL_LETTER) <= width:
        return text
    while text and text_width(text + "…", SMALL_LETTER) > width:
        text = text[:-1]
    return text + "…"


def place(picture: Picture) -> Layout:
    """Return the layout of a picture; the same picture always gets the same one."""
    parents = _parents(picture)
    heads = [key for key in sorted(picture.boxes, key=_order(picture)) if key not in parents]
    spots: dict[str, Spot] = {}
    zones: dict[str, object] = {}
    top = float(MARGIN)
    singles = []
    for layers in _components(picture, heads):
        if len(layers) == 1 and len(layers[0]) == 1 and layers[0][0] not in parents.values():
            singles.append(layers[0][0])
            continue
        lowest = _place_component(picture, layers, parents, spots, top)
        zones |= {key: top for key in spots if key not in zones}
        top = lowest + GAP
    _place_singles(picture, singles, spots, top)
    fields = _fields(picture, spots, {key: zones.get(key, spot.y) for key, spot in spots.items()})
    everything = [*spots.values(), *(spot for _name, spot in fields)]
    width = max(spot.right for spot in everything) + MARGIN
    return Layout(spots, tuple(fields), parents, width, max(spot.bottom for spot in everything) + MARGIN)


def text_width(text: str, letter: float) -> float:
    """Return about how wide a text is; letters of CJK scripts take twice the room."""
    return sum(
        letter * (1.8 if unicodedata.east_asian_width(each) in "WF" else 1.2 if each.isupper() else 1)
        for each in text
    )


def _order(picture: Picture):
    return lambda key: (picture.boxes[key].site, not picture.boxes[key].is_switch, picture.boxes[key].name, key)


def _parents(picture: Picture) -> dict[str, str]:
    """Return for boxes of nodes the switch of their own site that they hang below, if there is one."""
    parents: dict[str, str] = {}
    for line in picture.lines:
        for one, other in ((line.a, line.b), (line.b, line.a)):
            box, above = picture.boxes[one], picture.boxes[other]
            if not box.is_switch and above.is_switch and box.site == above.site:
                parents[one] = min(parents.get(one, other), other, key=_order(picture))
    return parents


def _components(picture: Picture, heads: list[str]) -> list[list[list[str]]]:
    """Return for each connected set of heads its layers: every head beside those it is linked to."""
    neighbours: dict[str, set[str]] = defaultdict(set)
    ends = set(heads)
    for line in picture.lines:
        if line.a in ends and line.b in ends:
            neighbours[line.a].add(line.b)
            neighbours[line.b].add(line.a)
    components = []
    remaining = list(heads)
    while remaining:
        # From one end to the other: the farthest from the farthest.
        far = _layers(remaining[0], neighbours, heads)[-1][0]
        first = min(_layers(far, neighbours, heads)[-1][0], far, key=_order(picture))
        layers = _layers(first, neighbours, heads)
        components.append(layers)
        placed = {key for layer in layers for key in layer}
        remaining = [key for key in remaining if key not in placed]
    return sorted(components, key=lambda layers: -sum(len(layer) for layer in layers))


def _layers(first: str, neighbours: Mapping[str, set[str]], order: list[str]) -> list[list[str]]:
    placed, layers = {first}, [[first]]
    while True:
        reached = {key for near in layers[-1] for key in neighbours[near]} - placed
        if not reached:
            return layers
        placed |= reached
        layers.append([key for key in order if key in reached])


def _box_width(box: DrawnBox) -> float:
    name = text_width(shown(box.name), LETTER) + (26 if box.is_switch else 0)
    detail = text_width(box.present or shown(box.detail), SMALL_LETTER)
    return max(name, detail, 60) + 22


def _place_component(
    picture: Picture, layers: list[list[str]], parents: Mapping[str, str], spots: dict[str, Spot], top: float
) -> float:
    """Place one connected set from `top` on; return the y below it."""
    left = float(MARGIN + FIELD)
    lowest = top
    above: list[str] = []
    for layer in layers:
        left += _room_between(picture, above, layer, parents) if above else 0
        y = top + FIELD_TITLE
        right = left
        for head in layer:
            spots[head] = Spot(left, y, _box_width(picture.boxes[head]), BOX_HEIGHT)
            y, right = spots[head].bottom + GAP, max(right, spots[head].right)
            children = [key for key in sorted(parents, key=_order(picture)) if parents[key] == head]
            indent = INDENT + max((_label_room(picture, child, head) for child in children), default=0)
            for child in children:
                spots[child] = Spot(left + indent, y, _box_width(picture.boxes[child]), BOX_HEIGHT)
                y, right = spots[child].bottom + GAP, max(right, spots[child].right)
            y += FIELD + FIELD_TITLE
        lowest = max(lowest, y - FIELD_TITLE)
        left, above = right, layer
    return lowest


def _label_room(picture: Picture, child: str, head: str) -> float:
    labels = [figures(line) for line in picture.lines if {line.a, line.b} == {child, head}]
    return max((text_width(label, SMALL_LETTER) for label in labels), default=0) + 24


def _room_between(picture: Picture, above: list[str], layer: list[str], parents: Mapping[str, str]) -> float:
    """Return the room that the figures of the lines between two layers need, with the sites' fields beside it."""
    labels = [figures(line) for line in picture.lines if _between(line, above, layer)]
    widest = max((text_width(part, SMALL_LETTER) for label in labels for part in label.split(" · ")), default=0)
    return widest + 2 * FIELD + 24


def _between(line: DrawnLinks, one: list[str], other: list[str]) -> bool:
    return (line.a in one and line.b in other) or (line.b in one and line.a in other)


def _place_singles(picture: Picture, singles: list[str], spots: dict[str, Spot], top: float) -> None:
    """Place the boxes without lines in rows, those of a site beside each other."""
    left, y, last = float(MARGIN + FIELD), top + FIELD_TITLE, ""
    for key in sorted(singles, key=_order(picture)):
        box = picture.boxes[key]
        width = _box_width(box)
        left += 2 * FIELD if last and box.site != last else 0
        if left + width > ROW and left > MARGIN + FIELD:
            left, y = float(MARGIN + FIELD), y + BOX_HEIGHT + GAP + FIELD + FIELD_TITLE
        spots[key] = Spot(left, y, width, BOX_HEIGHT)
        left, last = left + width + GAP, box.site


def _fields(picture: Picture, spots: Mapping[str, Spot], zones: Mapping[str, object]) -> list[tuple[str, Spot]]:
    """Return a field for each site in each zone; several if boxes of other sites stand between its own."""
    by_site: dict[tuple[str, object], list[str]] = defaultdict(list)
    for key in spots:
        by_site[picture.boxes[key].site, zones[key]].append(key)
    fields = []
    for (site, _zone), keys in by_site.items():
        around = _around([spots[key] for key in keys])
        others = [spot for key, spot in spots.items() if key not in keys]
        if any(_overlap(around, spot) for spot in others):
            fields += [(site, _around([spots[key]])) for key in keys]
        else:
            fields.append((site, around))
    return fields


def _around(spots: list[Spot]) -> Spot:
    x = min(spot.x for spot in spots) - FIELD
    y = min(spot.y for spot in spots) - FIELD_TITLE
    right = max(spot.right for spot in spots) + FIELD
    return Spot(x, y, right - x, max(spot.bottom for spot in spots) + FIELD - y)


def _overlap(a: Spot, b: Spot) -> bool:
    return a.x < b.right and b.x < a.right and a.y < b.bottom and b.y < a.bottom
