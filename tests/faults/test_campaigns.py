"""A whole service with real agents is broken while it measures; nothing is lost, doubled, left over, stuck or untrue.

Chosen faults, all at one campaign or after each other; `python -m tests.faults` draws many more.
"""

import pytest

from tests.faults import kinds
from tests.faults.kinds.nodes import OUTLIVED
from tests.faults.playing import Outcome, Played, play
from tests.faults.telling import line_of

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("stack")]


def hit(seed: int, **faults: float) -> Outcome:
    """Carry out faults so many seconds after the launch, and return what came of it; nothing may be wrong."""
    chosen = [Played(name.replace("_", "-"), at_s) for name, at_s in faults.items()]
    assert {fault.name for fault in chosen} <= set(kinds.registered())
    outcome = play(seed, sorted(chosen, key=lambda fault: fault.at_s))
    print(line_of(outcome))
    assert outcome.findings == [], line_of(outcome)
    assert all(fault.recovery_s is not None for fault in outcome.faults)
    return outcome


def test_servers_and_workers_are_killed_in_mid_campaign() -> None:
    hit(1, kill_worker=2, wipe_valkey=6, kill_web=9, kill_postgres=13, kill_beat=16, kill_tool=18, kill_agent=22)


def test_an_agent_is_lost_whose_tool_lives_and_another_is_cloned() -> None:
    outcome = hit(2, lose_agent_with_live_tool=2, clone_agent=4, kill_supervisor=12)
    (lost,) = (fault for fault in outcome.faults if fault.name == "lose-agent-with-live-tool")
    assert lost.note == OUTLIVED
