"""A whole service with real agents is broken while it measures; nothing is lost, doubled, left over, stuck or untrue.

Chosen faults at one campaign; `python -m tests.faults` draws many more.
"""

from pathlib import Path

import pytest

from tests.faults import kinds
from tests.faults.kinds.nodes import OUTLIVED
from tests.faults.playing import Outcome, Played, play
from tests.faults.telling import line_of

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]


def hit(pattern: Path, seed: int, **faults: float) -> Outcome:
    """Carry out faults so many seconds after the launch on a site made after a pattern; nothing may be wrong."""
    chosen = [Played(name.replace("_", "-"), at_s) for name, at_s in faults.items()]
    assert {fault.name for fault in chosen} <= set(kinds.registered())
    outcome = play(seed, sorted(chosen, key=lambda fault: fault.at_s), pattern=pattern)
    print(line_of(outcome))
    assert outcome.findings == [], line_of(outcome)
    assert all(fault.recovery_s is not None for fault in outcome.faults)
    return outcome


def test_measuring_outlives_what_breaks_at_once(migrated: Path) -> None:
    faults = {"lose_agent_with_live_tool": 1, "clone_agent": 3, "kill_postgres": 10, "kill_beat": 14}
    outcome = hit(migrated, 5, **faults)
    (lost,) = (fault for fault in outcome.faults if fault.name == "lose-agent-with-live-tool")
    assert lost.note == OUTLIVED
