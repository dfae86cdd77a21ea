"""Changes of level in what is measured again and again, of the last days."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from apps.accounts.models import User
from apps.comparison.history import changes, queries, series
from apps.comparison.history.changes import HistoryChange
from apps.comparison.history.queries import LaneHistory

# Changes within this time are told, of so many histories: those that were continued last.
RECENT = timedelta(days=14)
MOST_HISTORIES = 8
# … and of each at so many settings, those of most campaigns.
MOST_SETTINGS = 4
# Fewer campaigns show no change.
FEWEST = 2 * changes.LEAST_LEVEL


@dataclass(frozen=True)
class RecentChange:
    """A change of level that nobody dismissed, in the history where it is shown whole."""

    history: LaneHistory
    change: HistoryChange

    @property
    def percent(self) -> str:
        """Return by how much the level changed: "−21 %"; "" from nothing on."""
        return f"{100 * (self.change.ratio - 1):+.3g} %".replace("-", "−") if self.change.has_ratio else ""


def recent_changes(user: User, now: datetime) -> list[RecentChange]:
    """Return the last change of each setting of the histories that were continued lately, the newest first."""
    since = now - RECENT
    continued = [
        item for item in series.known_histories(user, least=FEWEST) if item.last is not None and item.last >= since
    ]
    continued.sort(key=lambda item: item.last or since, reverse=True)
    recent = []
    for item in continued[:MOST_HISTORIES]:
        for history in _histories(user, item.lane):
            level_changes = changes.shown_changes(history.subject, history.levels, user)
            newest = [change for change in level_changes if change.level.at >= since and not change.is_dismissed]
            recent += [RecentChange(history, change) for change in newest[-1:]]
    return sorted(recent, key=lambda each: each.change.level.at, reverse=True)


def _histories(user: User, lane: int) -> Iterator[LaneHistory]:
    """Yield the histories of the main metric at the settings that were measured in most campaigns."""
    history = queries.find(user, lane, point=None, metric=None)
    if history is None:
        return
    lanes = series.like(history.lane, user)
    for setting in history.settings[:MOST_SETTINGS]:
        if setting.campaigns >= FEWEST:
            subject = replace(history.subject, parameters=setting.parameters)
            yield replace(history, subject=subject, setting=setting, levels=series.levels_of(subject, lanes))
