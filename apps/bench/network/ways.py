"""The paths over a network whose links are read once: what `find_path` finds, without reading all links for each."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from apps.bench.network.paths import Path, PathLink, capacity_of

_Step = tuple[Hashable, PathLink]


@dataclass
class _Parallel:
    """The links from one end to another that a way may take: each wider (bit/s) than all that come before it.

    Of the others none is ever taken: an earlier one carries as much.
    """

    widths: list[float] = field(default_factory=list)
    links: list[PathLink] = field(default_factory=list)

    def add(self, link: PathLink) -> None:
        """Keep a link if it is wider than those before it."""
        if not self.links or capacity_of(link) > self.widths[-1]:
            self.widths.append(capacity_of(link))
            self.links.append(link)

    def carrying(self, width: float) -> tuple[float, PathLink]:
        """Return what is left of a width (bit/s) over these links, and the first of the links that leave so much."""
        place = min(bisect_left(self.widths, width), len(self.links) - 1)
        return min(width, self.widths[place]), self.links[place]


class Fabric:
    """The links of a network by their ends; `can_forward` tells which ends pass traffic on."""

    def __init__(self, links: Iterable[PathLink], can_forward: Callable[[Hashable], bool]) -> None:
        # From each end that forwards to those beside it, in the order of their first links.
        self.beside: dict[Hashable, dict[Hashable, _Parallel]] = {}
        # The links of the other ends, of which only the source's and the destination's own are ever on a way.
        self._own: dict[Hashable, list[PathLink]] = {}
        self._can_forward = can_forward
        for link in links:
            if can_forward(link.a) and can_forward(link.b):
                for one, other in ((link.a, link.b), (link.b, link.a)):
                    self.beside.setdefault(one, {}).setdefault(other, _Parallel()).add(link)
                continue
            for end in {link.a, link.b}:
                if not can_forward(end):
                    self._own.setdefault(end, []).append(link)

    def own(self, end: Hashable) -> Sequence[PathLink]:
        """Return the links of an end that does not forward; none are kept of one that does."""
        return self._own.get(end, ())

    def from_end(self, end: Hashable) -> dict[Hashable, _Parallel]:
        """Return what a way from an end can begin with: the ends beside it that forward."""
        if self._can_forward(end):
            return self.beside.get(end, {})
        begun: dict[Hashable, _Parallel] = {}
        for link in self.own(end):
            other = link.b if link.a == end else link.a
            if self._can_forward(other):
                begun.setdefault(other, _Parallel()).add(link)
        return begun

    def ways(self, source: Hashable) -> "Ways":
        """Return the ways from an end."""
        return Ways(self, source)


@dataclass
class Crossed:
    """What paths come to: the links that they cross by their keys, and their RTTs (s), None for one not known."""

    links: dict[Hashable, PathLink] = field(default_factory=dict)
    rtts_s: set[float | None] = field(default_factory=set)


class Ways:
    """The best way from a source to every end of a fabric, by the measures of `find_path`.

    The search goes no further than to where it has been asked.
    """

    def __init__(self, fabric: Fabric, source: Hashable) -> None:
        self._fabric, self._source = fabric, source
        # The widest that each end is reached with (bit/s), and its place: layer by layer, in the order it was met.
        self._widest: dict[Hashable, float] = {source: float("inf")}
        self._place: dict[Hashable, tuple[int, int]] = {source: (0, 0)}
        self._came_over: dict[Hashable, _Step] = {}
        self._layer: list[Hashable] = [source]
        self._depth = 0

    def to(self, destination: Hashable, *, end_to_end_rtt_s: float | None = None) -> Path | None:
        """Return the path to an end, None without one."""
        steps = self._steps_to(destination)
        if steps is None:
            return None
        links = tuple(link for _end, link in reversed(steps))
        ends = (*(end for end, _link in reversed(steps)), destination)
        return Path(links, ends, end_to_end_rtt_s)

    def links_to(self, destinations: Iterable[Hashable]) -> set[Hashable]:
        """Return the keys of the links on the paths to several ends; what paths share is walked over once."""
        keys: set[Hashable] = set()
        walked: set[Hashable] = {self._source}
        for destination in destinations:
            end, step = destination, self._last_step(destination)
            while step and end not in walked:
                walked.add(end)
                keys.add(step[1].key)
                end = step[0]
                step = self._came_over.get(end)
        return keys

    def crossed_to(self, destinations: Iterable[Hashable]) -> Crossed:
        """Return what the paths to several ends come to; what paths share is walked over and added up once."""
        crossed = Crossed()
        # From the source to each end that was passed (s).
        rtts: dict[Hashable, float | None] = {self._source: 0.0}
        for destination in destinations:
            step = self._last_step(destination)
            if step:
                crossed.rtts_s.add(self._rtt_over(step, rtts, crossed.links))
            elif destination == self._source:
                # Of a path without links none is known.
                crossed.rtts_s.add(None)
        return crossed

    def _rtt_over(
        self, last: _Step, rtts: dict[Hashable, float | None], links: dict[Hashable, PathLink]
    ) -> float | None:
        """Return the RTT (s) to where a step leads; that of the ends on the way, and their links, are kept."""
        steps = [last]
        while steps[-1][0] not in rtts:
            steps.append(self._came_over[steps[-1][0]])
        rtt_s = rtts[steps[-1][0]]
        for number in range(len(steps) - 1, -1, -1):
            link = steps[number][1]
            links[link.key] = link
            rtt_s = None if rtt_s is None or link.rtt_s is None else rtt_s + link.rtt_s
            if number:
                rtts[steps[number - 1][0]] = rtt_s
        return rtt_s

    def _steps_to(self, destination: Hashable) -> list[_Step] | None:
        """Return the steps to an end from the last to the first; None where nothing leads."""
        if destination == self._source:
            return []
        step = self._last_step(destination)
        steps: list[_Step] = []
        while step:
            steps.append(step)
            step = self._came_over.get(step[0])
        return steps or None

    def _last_step(self, destination: Hashable) -> _Step | None:
        """Return where the way leaves what forwards: the nearest end, of those the widest, the first of equals."""
        if destination == self._source:
            return None
        own = self._fabric.own(destination)
        if not own:
            self._search([destination])
            return self._came_over.get(destination)
        steps = [(link.b if link.a == destination else link.a, link) for link in own]
        self._search([end for end, _link in steps])
        own_steps = [step for step in steps if step[0] in self._place]
        return min(own_steps, key=self._rank, default=None)

    def _rank(self, step: _Step) -> tuple[int, float, int]:
        """Return what sorts the last steps of a way: its links, its width from the widest on, its end's place."""
        end, link = step
        depth, number = self._place[end]
        return depth, -min(self._widest[end], capacity_of(link)), number

    def _search(self, ends: Sequence[Hashable]) -> None:
        """Go on until one of the ends is reached, and with it all that are as near."""
        while self._layer and not any(end in self._place for end in ends):
            self._depth += 1
            widths = self._reach()
            self._widest |= widths
            self._place |= {end: (self._depth, number) for number, end in enumerate(widths)}
            self._layer = list(widths)

    def _reach(self) -> dict[Hashable, float]:
        """Return {end: the width it is first reached with} of the next layer."""
        widths: dict[Hashable, float] = {}
        for end in self._layer:
            beside = self._fabric.beside.get(end, {}) if self._depth > 1 else self._fabric.from_end(end)
            for neighbour, parallel in beside.items():
                if neighbour in self._widest:
                    continue
                width, link = parallel.carrying(self._widest[end])
                if width > widths.get(neighbour, -1.0):
                    widths[neighbour] = width
                    self._came_over[neighbour] = (end, link)
        return widths
