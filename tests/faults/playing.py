"""One seed: a site, a campaign, the faults that the seed draws, and what is wrong when all of them are healed."""

import os
import shutil
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psycopg

from tests.faults import disks, kinds, measuring, records, server_clock, small_disks, verdict
from tests.faults.long_work import LongWork
from tests.faults.recovery import Period, recovery_of
from tests.faults.site import Site, patiently
from tests.faults.verdict import LEAKED, STUCK, Finding
from tests.launch.watching import wait_for

# So many faults, beginning within this time after the launch (s).
FEWEST, MOST, BEGIN_WITHIN_S = 2, 5, 25.0
# From the healing of the last fault to the campaign's end, and from that to the last of what is cleared away (s).
END_WITHIN_S = 240.0
CLEAR_WITHIN_S = 60.0
# From the healing of a fault to the next trial that comes to its end on what it was about (s).
RECOVER_WITHIN_S = 90.0
_LOOK_S = 0.5


@dataclass
class Played:
    """A fault as it was carried out: when, about which node ("" for the service), and what was noted."""

    name: str
    at_s: float
    period: Period = field(default_factory=Period)
    node: str = ""
    note: str = ""
    error: str = ""
    recovery_s: float | None = None


@dataclass
class Outcome:
    """What came of a seed; `folder` is kept if somebody is to look at it."""

    seed: int
    faults: list[Played]
    findings: list[Finding] = field(default_factory=list)
    took_s: float = 0.0
    folder: Path | None = None


def draw_faults(seed: int, only: Sequence[str] = ()) -> list[Played]:
    """Return the faults of a seed, of those named in `only` if any are, in the order of their beginning."""
    draw = Random(seed)
    names = sorted(only or kinds.registered())
    chosen = draw.choices(names, k=draw.randint(FEWEST, MOST)) if len(names) > 1 else names
    return sorted((Played(name, draw.uniform(2, BEGIN_WITHIN_S)) for name in chosen), key=lambda fault: fault.at_s)


def play(seed: int, faults: list[Played], *, pattern: Path | None = None, keep: bool = False) -> Outcome:
    """Carry out faults against a site of their own, made after a pattern if there is one; return what is wrong then.

    With `keep` the folder of a site with which something is wrong stays.
    """
    begun = time.monotonic()
    outcome = Outcome(seed, faults)
    folder = Path(tempfile.mkdtemp(prefix=f"fathom-faults-{seed}-"))
    try:
        names = {fault.name for fault in faults}
        moved, filled = server_clock.FAULT in names, not names.isdisjoint(small_disks.FAULTS)
        site = Site(folder, pattern, moves_clock=moved, has_small_disks=filled)
        with site:
            outcome.findings += _measure(site, outcome)
        outcome.findings += [Finding(LEAKED, f"runs on: {words}") for words in site.leftover_processes()]
    except Exception:
        outcome.findings.append(Finding(STUCK, f"the site could not go on: {traceback.format_exc()}"))
    outcome.took_s = time.monotonic() - begun
    if keep and outcome.findings:
        outcome.folder = folder
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def _measure(site: Site, outcome: Outcome) -> Iterator[Finding]:
    work = LongWork(site)
    writing = measuring.launch_writing(site.api, site.nodes, site.shared)
    campaign = measuring.launch(site.api, site.nodes)
    launched = time.monotonic()
    threads = [
        threading.Thread(target=_carry_out, args=(site, fault, launched, Random(f"{outcome.seed} {number}")))
        for number, fault in enumerate(outcome.faults)
    ]
    for thread in threads:
        thread.start()
    yield from work.carry_on(lambda: not any(thread.is_alive() for thread in threads))
    for thread in threads:
        thread.join()
    for fault in outcome.faults:
        if fault.error:
            yield Finding(STUCK, f"{fault.name} could not be carried out: {fault.error}")
    for each in (campaign, writing):
        wait_for(lambda each=each: site.ask(f"campaigns/{each}/")["state"] != "running", END_WITHIN_S)
    written = site.ask(f"campaigns/{writing}/")
    if written["progress"]["measured"] != written["progress"]["total"]:
        yield Finding(STUCK, f"of the campaign that writes files: {written['progress']}")
    yield from _judge(site, campaign, outcome)


def _carry_out(site: Site, fault: Played, launched: float, draw: Random) -> None:
    time.sleep(max(0.0, launched + fault.at_s - time.monotonic()))
    course = kinds.registered()[fault.name](site, draw)
    fault.period.begun = time.time()
    try:
        fault.node = next(course)
        next(course)
    except StopIteration as end:
        fault.note = end.value or ""
    except Exception:
        fault.error = traceback.format_exc()
    fault.period.healed = time.time()


def _judge(site: Site, campaign: int, outcome: Outcome) -> Iterator[Finding]:
    left: list[Finding] = []

    def is_clear() -> bool:
        left[:] = _left(site, campaign)
        return not left

    if disks.abandoned(site):
        # The web server's start sweeps them.
        os.kill(site.pid("web"), signal.SIGTERM)
    wait_for(is_clear, CLEAR_WITHIN_S)
    yield from left
    found = _read(site, campaign)
    progress = site.ask(f"campaigns/{campaign}/")["progress"]
    yield from verdict.judge(found, site.tally.executions(), progress)
    # What a clock wrote that was ahead tells nothing of when measuring went on.
    ends = [end for end in records.finishes(found) if end[0] <= time.time()]
    for fault in outcome.faults:
        about = frozenset({site.nodes[fault.node]} if fault.node else site.nodes.values())
        others = [other.period for other in outcome.faults if other is not fault]
        fault.recovery_s = recovery_of(fault.period, others, [at for at, nodes in ends if nodes & about])
        if fault.recovery_s > RECOVER_WITHIN_S:
            yield Finding(STUCK, f"{fault.name} was recovered from after {fault.recovery_s:.0f} s")


def _left(site: Site, campaign: int) -> list[Finding]:
    """Return what is held, stored or said that a site at rest would not hold, store or say."""
    left = [*verdict.leaks(_read(site, campaign)), *disks.left_on_disks(site)]
    left += [
        Finding(verdict.UNTRUE, f"the agent of node {node} is said to be {state}")
        for node, state in site.agent_states().items()
        if state != "idle"
    ]
    health = site.health()
    return left if health == "ok" else [*left, Finding(STUCK, f"the service says of itself: {health}")]


def _read(site: Site, campaign: int) -> records.Records:
    address = patiently(lambda: site.stack.state()["database_url"], KeyError)
    return patiently(lambda: records.read(address, campaign), psycopg.OperationalError)
