"""Change-points of histories whose true changes are known: false alarms and power, by the kind of noise."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.accounts.models import Team
from apps.bench import statistics
from apps.comparison.history.changes import shown_changes
from apps.comparison.history.series import CampaignLevel, Subject
from apps.toolbox import queries as toolbox
from benchmarks.truth.worlds.noise import AUTOCORRELATED, LOGNORMAL, NORMAL, OUTLIERS, Noise, draw

# Of histories without a change so many in a hundred may show one; with a change of 3 sigma so many must.
MOST_FALSE, LEAST_POWER = 5.0, 90.0
CV, LONG, SHORT, SIGMAS = 0.03, 300, 20, 3.0
# The place of a change counts if it is this near.
PLACE = 2
RATE = 9.4e8
BEGAN = datetime.fromisoformat("2026-01-01T00:00:00+00:00")


@dataclass(frozen=True)
class Count:
    """How many histories of a kind showed a change where they should not, or where they should."""

    name: str
    goal: str
    said: int
    of: int

    @property
    def percent(self) -> float:
        """Return the share in percent."""
        return 100 * self.said / self.of


def count_changes(team: Team, series: int, seed: int) -> Iterator[Count]:
    """Yield the counts over so many histories of each kind, as the page of a history finds their changes."""
    tool = toolbox.get_tool("iperf3-tcp")
    subject = Subject(team, tool, tool.metrics[0], {}, {})
    source = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    for kind in (NORMAL, LOGNORMAL, OUTLIERS, AUTOCORRELATED):
        for length in (SHORT, LONG):
            alarms = sum(
                bool(places_of(subject, draw(Noise(kind, CV), length, source)[0])) for _turn in range(series)
            )
            yield Count(f"false alarms, {kind}, n = {length}", f"at most {MOST_FALSE:g} %", alarms, series)
    for kind in (NORMAL, LOGNORMAL):
        seen = 0
        for _turn in range(series):
            values = draw(Noise(kind, CV), SHORT, source)[0]
            shifted = [value - SIGMAS * CV * (place >= SHORT // 2) for place, value in enumerate(values)]
            seen += any(abs(place - SHORT // 2) <= PLACE for place in places_of(subject, shifted))
        yield Count(f"power, {kind}, {SIGMAS:g} sigma, n = {SHORT}", f"{LEAST_POWER:g} % or more", seen, series)


def places_of(subject: Subject, values: Sequence[float]) -> list[int]:
    """Return before which values the product sees a change of level."""
    levels = [_level(place, value) for place, value in enumerate(values)]
    return [change.place for change in shown_changes(subject, levels)]


def _level(place: int, value: float) -> CampaignLevel:
    rate = value * RATE
    at = BEGAN + timedelta(days=place)
    return CampaignLevel(
        place, f"Day {place}", "measured", place, at, (rate,), frozenset(), statistics.summarise([rate]), None
    )
