"""The paths from one end to many: searched for once, where `find_path` would search for each."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

from apps.bench.network.paths import Path, PathLink

_Step = tuple[Hashable, PathLink]


class Ways:
    """The best way from a source to every end that forwards, by the measures of `find_path`.

    `links` are those between ends that forward, and the source's own.
    """

    def __init__(self, links: Iterable[PathLink], source: Hashable, can_forward: Callable[[Hashable], bool]) -> None:
        self._source = source
        # The widest that each end is reached with (bit/s), and its place: layer by layer, in the order it was met.
        self._widest: dict[Hashable, float] = {source: float("inf")}
        self._place: dict[Hashable, tuple[int, int]] = {source: (0, 0)}
        self._came_over: dict[Hashable, _Step] = {}
        neighbours: dict[Hashable, list[_Step]] = defaultdict(list)
        for link in links:
            neighbours[link.a].append((link.b, link))
            neighbours[link.b].append((link.a, link))
        layer, depth = [source], 0
        while layer:
            depth, widths = depth + 1, self._reach(layer, neighbours, can_forward)
            self._widest |= widths
            self._place |= {end: (depth, number) for number, end in enumerate(widths)}
            layer = list(widths)

    def _reach(
        self,
        layer: Iterable[Hashable],
        neighbours: dict[Hashable, list[_Step]],
        can_forward: Callable[[Hashable], bool],
    ) -> dict[Hashable, float]:
        """Return {end: the width it is first reached with} of the next layer."""
        widths: dict[Hashable, float] = {}
        for end in layer:
            for neighbour, link in neighbours[end]:
                if neighbour in self._widest or not can_forward(neighbour):
                    continue
                width = min(self._widest[end], _capacity(link))
                if width > widths.get(neighbour, -1.0):
                    widths[neighbour] = width
                    self._came_over[neighbour] = (end, link)
        return widths

    def to(
        self, destination: Hashable, own: Sequence[PathLink], *, end_to_end_rtt_s: float | None = None
    ) -> Path | None:
        """Return the path to an end whose links are `own` (none are asked of one that forwards), None without one."""
        last = None if destination in self._place else self._last_step(destination, own)
        if last is None and destination not in self._place:
            return None
        ends: list[Hashable] = [destination]
        links: list[PathLink] = []
        while ends[-1] != self._source:
            end, link = last or self._came_over[ends[-1]]
            last = None
            ends.append(end)
            links.append(link)
        return Path(tuple(reversed(links)), tuple(reversed(ends)), end_to_end_rtt_s)

    def _last_step(self, destination: Hashable, own: Iterable[PathLink]) -> _Step | None:
        """Return where the way leaves what forwards: the nearest end, of those the widest, the first of equals."""
        steps = [(link.b if link.a == destination else link.a, link) for link in own]
        known = [step for step in steps if step[0] in self._place]
        return min(known, key=self._rank, default=None)

    def _rank(self, step: _Step) -> tuple[int, float, int]:
        """Return what sorts the last steps of a way: its links, its width from the widest on, its end's place."""
        end, link = step
        depth, number = self._place[end]
        return depth, -min(self._widest[end], _capacity(link)), number


def _capacity(link: PathLink) -> float:
    return link.capacity_bps if link.capacity_bps is not None else 0.0
