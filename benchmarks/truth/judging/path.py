"""Judges of what is said of the path itself: its bottleneck, its capacity, its loss."""

from apps.bench.toolkit import Tool
from benchmarks.truth.judging.base import Case, Judgement, Rules, is_near, no, undecided, whether, yes
from benchmarks.truth.worlds import noise, udp

# Of a link that is really shared or policed less than this can be had.
WHOLE = 0.9
# What is told of two ways that differ has so many times the other at least; what is unexplained less than this share.
SLOWER, LEFT = 1.15, 0.95
TCP = "iperf3-tcp"


def payload_span(case: Case) -> tuple[float, float]:
    """Return the path's capacity from payload of UDP to the line (bit/s)."""
    world = case.world
    return udp.payload_rate(world.client, world.server, world.way, world.length), world.capacity_bps


def _bottleneck(case: Case) -> Judgement:
    lines = {line.name: line.capacity_bps for line in case.world.way.lines}
    named = str(case.sentence["params"].get("link") or case.statement.subject).split(" / ")
    known = [lines[name] for name in named if name in lines]
    if len(known) < len(named):
        return undecided("a link that the world does not have")
    true = min(known)
    wrong = not is_near(case.value, true, 0.02)
    if "not what the inventory" in case.title:
        return whether(wrong, "the inventory is right")
    if "as described" in case.title:
        return _as_described(case, wrong=wrong)
    if true > 1.001 * min(lines.values()):
        return no(f"{case.statement.subject} is not the slowest link")
    if wrong:
        return no(f"the link has {true:.4g} bit/s")
    had = case.world.capacity_bps / true
    return whether(had >= 0.85, f"only {100 * had:.0f} % of it can be had")


def _as_described(case: Case, *, wrong: bool) -> Judgement:
    """Return whether the link is the narrowest that is described, and only so much really comes through."""
    stated = min((link.capacity_bps for link in case.world.links if link.capacity_bps), default=0)
    had, rate = case.world.capacity_bps, case.parameter("rate") or 0.0
    if not is_near(case.value, stated, 0.02):
        return no(f"the narrowest link is described with {stated:.4g} bit/s")
    if not wrong and had > WHOLE * stated:
        return no("all of the link can be had")
    return whether(is_near(rate, had), f"{had:.4g} can be had of it")


def _capacity(case: Case) -> Judgement:
    payload, line = payload_span(case)
    if "or more" in case.title:
        return whether(case.value <= 1.1 * line, f"the path holds {line:.4g}, not {case.value:.4g} or more")
    high = float(case.fields.get("high") or case.value)
    if "up to" not in case.title and high > 1.1 * line:
        return no(f"the path holds {line:.4g}, at most; {high:.4g} is said")
    return whether(high >= 0.9 * payload, f"the path holds {payload:.4g} of payload; at most {high:.4g} is said")


def _loss(case: Case) -> Judgement:
    truth, loss = case.world.way.loss, case.value / 100
    if not truth:
        return no("the path loses nothing by chance")
    return whether(truth / 3 <= loss <= 3 * truth, f"it loses {100 * truth:.2g} %, not {100 * loss:.2g} %")


def _datagrams(case: Case) -> Judgement:
    """Return whether no more of a flow's datagrams arrives, whatever holds it."""
    world = case.world
    most = udp.offer(world.client, world.server, world.way, 1e12, world.length, world.drain_bps).goodput
    return whether(is_near(case.value, most), f"{most:.4g} arrive of one flow at most, not {case.value:.4g}")


def modes(case: Case) -> Judgement:
    """Return whether the noise has two modes, or goes one way."""
    kind = case.world.noise.kind
    if case.statement.subject == "drift":
        return whether(kind in (noise.DRIFT, noise.AUTOCORRELATED), f"the noise is {kind}")
    if case.statement.subject == "held-up":
        return whether(kind in (noise.BUSY, noise.OUTLIERS), f"the noise is {kind}")
    if kind in (noise.BUSY, noise.OUTLIERS):
        return undecided("some figures were held up")
    return whether(kind == noise.BIMODAL, f"the noise is {kind}")


def _levels(case: Case) -> Judgement:
    """Return whether something really changed between two experiments: noise of these kinds does, no other."""
    kind = case.world.noise.kind
    if kind in (noise.BUSY, noise.OUTLIERS):
        return undecided("some figures were held up")
    return whether(kind in (noise.DRIFT, noise.AUTOCORRELATED, noise.BIMODAL), f"the noise is {kind}")


def _directions(case: Case) -> Judgement:
    """Return whether the one way really has so much less than the other at one setting."""
    name = Tool.backwards_at[0]
    rates = {cell.parameters[name]: cell.truth["goodput"] for cell in case.cells(TCP) if name in cell.parameters}
    if len(rates) < 2:
        return undecided("it does not rest on both ways")
    slow, fast = min(rates.values()), max(rates.values())
    if fast < SLOWER * slow:
        return no(f"both ways have nearly the same: {slow:.4g} and {fast:.4g}")
    return whether(is_near(case.value, slow), f"the slower way has {slow:.4g}, not {case.value:.4g}")


def _unexplained(case: Case) -> Judgement:
    """Return whether TCP really leaves much of the path, or of its links as they are described."""
    own = case.world
    best = max((cell.truth["goodput"] for cell in case.cells(TCP)), default=0.0)
    carried = own.capacity_bps
    if "as described" in case.title:
        carried = min((link.capacity_bps for link in own.links if link.capacity_bps), default=carried)
    return whether(best < LEFT * carried, f"TCP has {best:.4g} of {carried:.4g}")


def _known(case: Case) -> Judgement:
    return yes("read off the facts")


RULES: Rules = {
    "path-bottleneck": _bottleneck,
    "path-capacity": _capacity,
    "path-loss": _loss,
    "path-datagrams": _datagrams,
    "path-modes": modes,
    "path-levels": _levels,
    "path-interface": _known,
    "path-directions": _directions,
    "path-unexplained": _unexplained,
}
