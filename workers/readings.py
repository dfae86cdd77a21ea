"""Who reads what runs printed: a worker at once, or one in turns where a team's outputs take long to be read.

The steps of everybody's measurements wait for the same workers, and what an agent sends may be made to take long. So
a team, and whoever made the campaign, have a little of such reading; the rest waits for its turn, as imports do.
"""

from collections.abc import Callable
from datetime import datetime

from django.db.models import Exists, OuterRef, Q

from apps.agents.models import Job
from apps.campaigns import queries
from apps.campaigns.models import Run
from apps.core import turns

# Reading that takes less (s of a processor) is not counted: that of ordinary outputs takes a hundredth of it.
FREE_S = 1.0
# Who had more of it lately (s) is read in turns.
MOST_S = 20.0
# A process that reads for longer (s) is ended.
LIMIT_S = 120
READING = "reading of "
TEAM, PERSON = f"{READING}team ", f"{READING}person "
_ASKED = turns.TurnFields("trial__campaign__team", "trial__campaign__created_by", "updated_at")


def count(run_id: int, seconds: float) -> None:
    """Count what the reading of a run took (s of a processor) as its team's, and whose campaign it is."""
    if seconds > FREE_S:
        turns.count(_owners(run_id), seconds)


def count_lost(run_id: int, seconds: float) -> None:
    """Count a reading that a worker was lost with so long (s) ago: whatever else its team's print waits for its turn.

    It is counted among the turns, too, for a worker that is ended counts nothing there.
    """
    owners, spent_s = _owners(run_id), min(max(seconds, 0.0), LIMIT_S)
    turns.count(owners, spent_s + MOST_S)
    turns.count([owner.removeprefix(READING) for owner in owners], spent_s)


def waits_for_its_turn(run_id: int, now: datetime) -> bool:
    """Say whether a run is read in turns."""
    in_turns = _in_turns(now)
    return bool(in_turns) and not in_turns.isdisjoint(_owners(run_id))


def pieces(now: datetime, do: Callable[[int], bool]) -> turns.Pieces:
    """Return the runs that are read in turns, and whose commands have ended."""
    in_turns = _in_turns(now)
    teams, people = (
        [int(owner.removeprefix(kind)) for owner in in_turns if owner.startswith(kind)] for kind in (TEAM, PERSON)
    )
    whose = Q(trial__campaign__team__in=teams) | Q(trial__campaign__created_by__in=people)
    under_way = Job.objects.filter(run_ref=OuterRef("pk"), state__in=Job.OPEN_STATES)
    return turns.Pieces(queries.open_runs().filter(whose, ~Exists(under_way), stage__gte=0), _ASKED, do)


def _owners(run_id: int) -> list[str]:
    whose = Run.objects.filter(pk=run_id).values_list("trial__campaign__team", "trial__campaign__created_by")
    return [
        f"{kind}{pk}" for owners in whose for kind, pk in zip((TEAM, PERSON), owners, strict=True) if pk is not None
    ]


def _in_turns(now: datetime) -> set[str]:
    return turns.over(MOST_S, now, READING)
