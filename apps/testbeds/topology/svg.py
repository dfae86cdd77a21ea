"""Write a placed drawing as SVG: no style of its own, only classes that `css/topology.css` colours in both themes."""

import zlib
from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from apps.testbeds.topology.layout import (
    BOX_HEIGHT,
    FIELD,
    INDENT,
    SMALL_LETTER,
    Layout,
    Spot,
    figures,
    fitted,
    shown,
    text_width,
)
from apps.testbeds.topology.parts import DrawnBox, DrawnLinks, Picture

# From these widths on a drawing may not be made as small as the screen.
_SIZES = {"huge": 1100, "large": 800, "medium": 480}


def render(picture: Picture, layout: Layout, style: str = "") -> SafeString:
    """Return the drawing with a description in words for those who do not see it; `style` is its own, if any."""
    described = describe(picture)
    name = f"topology-{zlib.crc32(described.encode()):08x}"
    return format_html(
        '<svg class="topology{size}" xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}"'
        ' viewBox="0 0 {w} {h}" role="group" aria-labelledby="{name}-title" aria-describedby="{name}-desc">'
        '<title id="{name}-title">{title}</title><desc id="{name}-desc">{described}</desc>'
        "{style}{fields}{lines}{boxes}</svg>",
        size=next((f" topology-{name}" for name, width in _SIZES.items() if layout.width > width), ""),
        w=round(layout.width),
        h=round(layout.height),
        name=name,
        title=_("Network"),
        described=described,
        style=format_html("<style>{}</style>", style) if style else "",
        fields=_join(_field(site, spot) for site, spot in layout.fields),
        lines=_join(_line(line, layout) for line in picture.lines),
        boxes=_join(_box(box, layout.spots[box.key]) for box in picture.boxes.values()),
    )


def _join(parts: Iterable[SafeString]) -> SafeString:
    return format_html_join("", "{}", ((part,) for part in parts))


def describe(picture: Picture) -> str:
    """Return the drawing in words."""
    sentences = []
    for line in picture.lines:
        words = {"a": picture.boxes[line.a].name, "b": picture.boxes[line.b].name, "figures": figures(line)}
        text = _("%(a)s is linked to %(b)s, %(figures)s") if words["figures"] else _("%(a)s is linked to %(b)s")
        sentences.append(text % words + (_(" (bottleneck)") if line.is_bottleneck else ""))
    linked = {key for line in picture.lines for key in (line.a, line.b)}
    sentences += [_("%(name)s has no link") % {"name": box.name} for box in picture.boxes.values()
                  if box.key not in linked]  # fmt: skip
    sentences += [f"{box.name}: {box.present}" for box in picture.boxes.values() if box.obstacle_count]
    return "; ".join(sentences) + "."


def _field(site: str, spot: Spot) -> SafeString:
    return format_html(
        '<g class="topology-site"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" rx="8"/>'
        '<text x="{}" y="{}">{}</text></g>',
        site,
        *_numbers(spot.x, spot.y, spot.width, spot.height, spot.x + 10, spot.y + 15),
        fitted(site, spot.width - 16),
    )


def _box(box: DrawnBox, spot: Spot) -> SafeString:
    kinds = ["topology-box", "topology-switch" if box.is_switch else "topology-node"]
    kinds += [f"topology-{box.mark}"] if box.mark else []
    indent = 30 if box.is_switch else 11
    detail = box.present or shown(box.detail)
    titles = [part for part in (box.detail, box.present) if part]
    inner = format_html(
        '<title>{}</title>{}<rect x="{}" y="{}" width="{}" height="{}" rx="{}"/>{}'
        '<text class="topology-name" x="{}" y="{}">{}</text>{}',
        f"{box.name} ({', '.join(titles)})" if titles else box.name,
        _stack(spot) if len(box.members) > 1 else "",
        *_numbers(spot.x, spot.y, spot.width, spot.height),
        BOX_HEIGHT // 2 if box.is_switch else 6,
        _sign(spot) if box.is_switch else "",
        *_numbers(spot.x + indent, spot.middle + (5 if not detail else -3)),
        shown(box.name),
        _detail(detail, spot.x + indent, spot.middle + 14) if detail else "",
    )
    return _linked(" ".join(kinds), box.url, inner)


def _linked(kind: str, url: str, inner: SafeString) -> SafeString:
    """Return a group of the drawing, which leads to an address if there is one."""
    if url:
        return format_html('<a class="{}" href="{}">{}</a>', kind, url, inner)
    return format_html('<g class="{}">{}</g>', kind, inner)


def _detail(text: str, x: float, y: float) -> SafeString:
    return format_html('<text class="topology-detail" x="{}" y="{}">{}</text>', *_numbers(x, y), text)


def _stack(spot: Spot) -> SafeString:
    """Return the edges of the boxes that stand behind a box of several nodes."""
    return format_html(
        '<path class="topology-stack" d="M{} {}v-4h{}v{}h-4"/>',
        *_numbers(spot.x + 6, spot.y, spot.width - 2, spot.height),
    )


def _sign(spot: Spot) -> SafeString:
    """Return the two arrows that mark a switch."""
    return format_html(
        '<path class="topology-sign" d="M{x} {a}h11m-3 -3l3 3l-3 3M{y} {b}h-11m3 -3l-3 3l3 3"/>',
        x=round(spot.x + 12), y=round(spot.x + 23), a=round(spot.middle - 4), b=round(spot.middle + 4),
    )  # fmt: skip


def _line(line: DrawnLinks, layout: Layout) -> SafeString:
    course, (x, y), split = _course(line, layout)
    label = figures(line)
    # Between two switches the capacity stands above the line and the RTT below it, elsewhere both above.
    above, _dot, below = label.partition(" · ") if split else (label, "", "")
    inner = format_html(
        '<title>{}</title><path class="topology-wide" d="{}"/><path d="{}"/>{}{}',
        f"{line.name}: {label}" if label else line.name,
        course,
        course,
        _figure(above, x, y - 5) if above else "",
        _figure(below, x, y + 14) if below else "",
    )
    kind = "topology-line topology-bottleneck" if line.is_bottleneck else "topology-line"
    return _linked(kind, line.url, inner)


def _figure(text: str, x: float, y: float) -> SafeString:
    return format_html('<text class="topology-figure" x="{}" y="{}">{}</text>', *_numbers(x, y), text)


def _course(line: DrawnLinks, layout: Layout) -> tuple[str, tuple[float, float], bool]:
    """Return the path of a line, the middle of its figures, and whether they have room above and below."""
    a, b = sorted((line.a, line.b), key=lambda key: (layout.spots[key].x, layout.spots[key].y))
    for child, head in ((a, b), (b, a)):
        if layout.parents.get(child) == head:
            start, end = layout.spots[head], layout.spots[child]
            x = start.x + INDENT
            bend = _text("M{} {}V{}H{}", x, start.bottom, end.middle, end.x)
            return bend, ((x + end.x) / 2, end.middle), False
    start, end = layout.spots[a], layout.spots[b]
    if start.x == end.x:
        # One above the other in the same layer: round the outside.
        out = max(start.right, end.right) + 26
        bend = _text("M{} {}C{} {} {} {} {} {}", start.right, start.middle, out, start.middle, out, end.middle,
                     end.right, end.middle)  # fmt: skip
        return bend, (out, (start.middle + end.middle) / 2), False
    if start.middle == end.middle:
        # The figures stand between the sites' fields, however far the line runs within the first.
        room = max((text_width(part, SMALL_LETTER) for part in figures(line).split(" · ")), default=0)
        return (
            _text("M{} {}H{}", start.right, start.middle, end.x),
            (end.x - 2 * FIELD - room / 2, start.middle),
            True,
        )
    middle = (start.right + end.x) / 2
    bend = _text("M{} {}C{} {} {} {} {} {}", start.right, start.middle, middle, start.middle, middle, end.middle,
                 end.x, end.middle)  # fmt: skip
    return bend, (middle, (start.middle + end.middle) / 2), True


def _text(pattern: str, *numbers: float) -> str:
    return pattern.format(*_numbers(*numbers))


def _numbers(*values: float) -> list[str]:
    return [f"{value:.1f}".removesuffix(".0") for value in values]
