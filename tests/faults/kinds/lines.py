"""Faults of the network between an agent and the service."""

import time
from collections.abc import Iterator
from random import Random

from tests.agent.relays import Line, MessageProxy
from tests.faults.site import Site


def cut_line(site: Site, draw: Random) -> Iterator[str]:
    """Turn an agent's calls away for some seconds, maybe so long that it is taken for lost."""
    yield from _break(site, draw, Line.CUT)


def lose_requests(site: Site, draw: Random) -> Iterator[str]:
    """Lose an agent's calls without a word."""
    yield from _break(site, draw, Line.LOSES_REQUESTS)


def lose_answers(site: Site, draw: Random) -> Iterator[str]:
    """Lose the answers to an agent's calls, which the service carries out."""
    yield from _break(site, draw, Line.LOSES_ANSWERS)


def delay_line(site: Site, draw: Random) -> Iterator[str]:
    """Have each of an agent's calls take some seconds more."""
    name, line = _drawn(site, draw)
    line.delay_s = draw.uniform(0.5, 3.0)
    try:
        yield name
        time.sleep(draw.uniform(5, 15))
    finally:
        line.delay_s = 0.0


def repeat_polls(site: Site, draw: Random) -> Iterator[str]:
    """Send polls of an agent to the service again, old and new, as proxies and retries do."""
    name, line = _drawn(site, draw)
    yield name
    for _time in range(draw.randint(5, 20)):
        if line.polls:
            try:
                line.repeat(draw.choice(line.polls[-200:]))
            except (OSError, ValueError):
                # The service may be away itself.
                time.sleep(0.5)
        time.sleep(draw.uniform(0.05, 0.5))


def _break(site: Site, draw: Random, how: Line) -> Iterator[str]:
    name, line = _drawn(site, draw)
    line.break_line(how)
    try:
        yield name
        time.sleep(draw.choice((draw.uniform(2, 12), draw.uniform(30, 42))))
    finally:
        line.break_line(Line.WHOLE)


def _drawn(site: Site, draw: Random) -> tuple[str, MessageProxy]:
    name = draw.choice(sorted(site.nodes))
    return name, site.agents[name].line
