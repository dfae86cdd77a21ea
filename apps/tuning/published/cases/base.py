"""What readers of cases share: the case, what its words say, and the measurements most of them print."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext

from apps.bench.rules.base import ABOUT, Trend
from apps.bench.rules.shapes import FALLS, FLAT, RISES, SATURATES
from apps.tuning.published.drafts import PublishedValue, Setup
from apps.tuning.published.places import At, WrongPlace
from apps.tuning.published.world import World

# The program of these years; today's iperf 2 goes on from it.
TCP = UDP = "iperf2"
STORAGE = "iozone"
# The window that both ends of the line between KISTI and PNU were given (GFS report, section 1, and table 2-5).
TUNED_WINDOW = 1_048_576


@dataclass(frozen=True)
class PublishedCase:
    """A case of the file: its name, what it gives, and what its authors say in words."""

    name: str
    given: At
    words: str
    world: World

    def says(self, pattern: str) -> re.Match[str] | None:
        """Return where the words say something; what stands nowhere in figures is read from them."""
        return re.search(pattern, self.words, re.IGNORECASE)


@dataclass(frozen=True)
class CaseReading:
    """What a case comes to; `path` what it says of its paths: ``capacity_bps``, ``most_bps`` at most, ``rtt_s``."""

    setups: tuple[Setup, ...]
    path: Mapping[str, float] = field(default_factory=dict)


def ends(case: PublishedCase, near: str, far: str, sites: tuple[str, str]) -> dict[str, tuple[str, ...]]:
    """Return {"client", "server"}: the first nodes of two testbeds."""
    return {
        "client": case.world.machines(near, sites[0], 1),
        "server": case.world.machines(far, sites[1], 1),
    }


def rtt(case: PublishedCase, roles: Mapping[str, tuple[str, ...]]) -> list[Setup]:
    """Return the measurement of the RTT, if it is given; publications measure it with ping or traceroute."""
    time = case.given.find("rtt_s")
    if time is None:
        return []
    figure = PublishedValue(time.place, {}, {"rtt_min": time.number(maximum=3600.0)}, ABOUT)
    return [Setup("RTT", "ping", roles, figures=(figure,))]


def path_given(case: PublishedCase, capacity: str = "bit_per_s") -> dict[str, float]:
    """Return what the case says of its path."""
    path: dict[str, float] = {}
    if rate := case.given.find(capacity):
        path["capacity_bps"] = rate.number()
    if time := case.given.find("rtt_s"):
        path["rtt_s"] = time.number(maximum=3600.0)
    return path


def shape(of: At) -> str:
    """Return how a printed trend goes."""
    shapes = (RISES, FLAT, FALLS, SATURATES)
    if of.text() not in shapes:
        raise WrongPlace(of.place, gettext("a trend is one of: %s.") % ", ".join(shapes))
    return of.text()


def rates(of: At, names: tuple[str, ...] = ("write", "read")) -> dict[str, float]:
    """Return {metric: B/s} of those named that an object has."""
    return {name: rate.number() for name in names if (rate := of.find(name))}


def storage(
    name: str,
    clients: tuple[str, ...],
    file_system: str,
    *figures: PublishedValue,
    trends: tuple[Trend, ...] = (),
) -> Setup:
    """Return an experiment with IOzone."""
    return Setup(name, STORAGE, {"client": clients}, file_system=file_system, figures=figures, trends=trends)
