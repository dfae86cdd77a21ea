"""Judges of what is said of TCP over one path: what it holds, what limits it, and the window and streams it needs."""

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

from apps.bench.toolkit import Tool
from benchmarks.truth.judging.base import Case, Judgement, Rules, is_near, no, undecided, whether, yes
from benchmarks.truth.worlds import tcp
from benchmarks.truth.worlds.base import Cell

TOOL, CLAMP = "iperf3-tcp", "clamp"
# Rates nearer than this are as good as each other; nearer still, nobody could tell.
ENOUGH, SAME = 0.95, 0.99
# Limits as large as kernels take.
UNLIMITED = 2**30


def present(case: Case) -> dict[str, Any]:
    """Return the setting that a finding calls present: an automatic window whose figures it rests on."""
    cells = [cell for cell in case.cells(TOOL) if not cell.parameters.get("window")]
    streams = case.fields.get("applies_when", {}).get("params", {}).get("streams")
    alike = [cell for cell in cells if str(cell.parameters.get("streams", 1)) == str(streams)] or cells
    rate = case.fields.get("present")
    if not alike or not rate:
        return dict(alike[0].parameters) if alike else {}
    return dict(min(alike, key=lambda cell: abs(_mean(cell) - rate)).parameters)


def raised(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a setting with all limits of buffers raised on both hosts."""
    keys = {tcp.RMEM: f"4096 131072 {UNLIMITED}", tcp.WMEM: f"4096 65536 {UNLIMITED}"}
    keys |= dict.fromkeys((tcp.RMEM_MAX, tcp.WMEM_MAX), str(UNLIMITED))
    return {
        **parameters,
        **{f"setting.{role}.{key}": text for role in ("client", "server") for key, text in keys.items()},
    }


def _mean(cell: Cell) -> float:
    return sum(trial.figures["goodput"] for trial in cell.trials) / len(cell.trials)


def _bdp(case: Case) -> Judgement:
    truth, known = case.world.bdp_bytes, [link.capacity_bps for link in case.world.links if link.capacity_bps]
    if case.sentence["msgid"].startswith("If the links") and known:
        # It says what follows of the links as they are described: that, and the RTT, it has to get right.
        truth = min(known) * case.world.way.rtt_s / 8
    if not is_near(case.value, truth, 0.2):
        return no(f"the path holds {truth:,.0f} B, not {case.value:,.0f} B")
    if case.title.endswith("a larger window gains nothing now") and case.fields.get("present"):
        return _gains_nothing(case)
    return yes()


def _gains_nothing(case: Case) -> Judgement:
    setting = present(case) or {"window": 0, "streams": 1}
    tried = [cell for setup in case.world.setups if setup.tool == TOOL for cell in setup.cells]
    is_asked = any(cell.parameters.get("window") for cell in tried)
    # Of a clamp that heeds no wish only who asked for a window can say that a larger one gains nothing.
    world = case.world if is_asked and case.world.server.is_on_route else _unclamped(case)
    now, free = case.world.reach(setting).rate, world.reach(raised(setting)).rate
    return whether(free <= now / ENOUGH, f"they gain: {now:.4g} becomes {free:.4g}")


def _unclamped(case: Case) -> Any:
    """Return the world without what clamps each connection's window."""
    world = case.world
    return world.with_hosts(world.client, dataclasses.replace(world.server, clamp=math.inf))


def _limit(case: Case) -> Judgement:
    reached = case.world.reach(present(case))
    name = case.statement.subject
    terms = ", ".join(f"{key} {rate / 1e6:.5g}" for key, rate in reached.terms.items())
    if name == tcp.LOSS and _is_policed(case, reached):
        # It says that a policer may be what drops, and what would tell.
        return yes("a policer drops, which it names")
    if name == tcp.LOSS and case.world.way.late > case.world.way.loss and reached.is_limit(name):
        # What comes late is sent again for nothing: it has to say that this may be so.
        return whether(_names(case, "come late"), "segments come late, none is lost")
    if name == tcp.WINDOW and reached.limit == tcp.READER and _names(case, "receiving program"):
        # The kernel waits for a window in either case; why it is so small is told beside it.
        return yes("the receiving program takes no more, which it names")
    if name == tcp.READER and _is_clamped(case, reached) and _names(case, "clamps"):
        # Each looks like the other as long as nobody opened several streams.
        return yes("each connection's window is clamped, which it names")
    if name == CLAMP:
        return whether(_is_clamped(case, reached), f"{reached.limit} is the limit, and no clamp (Mbit/s: {terms})")
    if not reached.is_limit(name):
        return no(f"{reached.limit} is the limit, not {name} (Mbit/s: {terms})")
    if name == tcp.WINDOW and not is_near(case.value, reached.window, 0.25):
        return no(f"the window is {reached.window:,.0f} B, not {case.value:,.0f} B")
    if name == tcp.LOSS and not reached.lost / 3 <= case.value / 100 <= 3 * reached.lost:
        return no(f"{100 * reached.lost:.2g} % are lost, not {case.value:.2g} %")
    return yes()


def _names(case: Case, word: str) -> bool:
    """Return whether a finding names something among what else would look like this."""
    return any(word in item["title"]["msgid"] for item in case.fields.get("alternatives") or ())


def _is_clamped(case: Case, reached: tcp.Reached) -> bool:
    """Return whether something clamps each connection's window, and that is the limit."""
    return reached.is_limit(tcp.WINDOW) and reached.window == case.world.server.clamp


def _is_policed(case: Case, reached: tcp.Reached) -> bool:
    way, is_named = case.world.way, _names(case, "policer")
    return is_named and reached.is_limit(tcp.FLOW) and way.policer_bps < way.shaper_bps


def _per_flow(case: Case) -> Judgement:
    single = case.world.reach({**present(case), "streams": 1})
    if single.is_limit(tcp.PATH) and case.world.way.others and "undecided" in case.title:
        return yes("others have the rest, which it names")
    if single.is_limit(tcp.PATH) or single.is_limit(tcp.READER):
        return no(f"the {single.limit} is the limit of one flow, too")
    return whether(is_near(case.value, single.rate, 0.2), f"one flow reaches {single.rate:.4g}, not {case.value:.4g}")


def _knee(case: Case) -> Judgement:
    cells = [cell for cell in case.cells(TOOL) if cell.parameters.get("window")]
    rates = {cell.parameters["window"]: cell.truth["goodput"] for cell in cells}
    best, at = max(rates.values()), rates.get(int(case.value))
    if at is None:
        return undecided("the window was not measured")
    if at < ENOUGH * best:
        return no(f"larger windows give {best:.4g}, this one {at:.4g}")
    if "highest at a window" in case.title:
        last = rates[max(rates)]
        return whether(last < SAME * at, f"the largest window gives as much: {last:.4g} of {at:.4g}")
    low = rates.get(int(case.fields.get("low") or 0))
    if low is not None and low >= SAME * at:
        return no(f"the next smaller window gives as much: {low:.4g} of {at:.4g}")
    cell = next(cell for cell in cells if cell.parameters["window"] == int(case.value))
    free = case.world.reach(raised({**cell.parameters, "window": 8 * int(case.value)})).rate
    return whether(
        free <= at / ENOUGH, f"larger windows were capped; granted, they would give {free:.4g}, not {at:.4g}"
    )


def _streams(case: Case) -> Judgement:
    rates = _by(case.cells(TOOL), "streams")
    count = int(case.value)
    if count not in rates:
        return undecided("the count was not measured")
    best = max(rates.values())
    if rates[count] < ENOUGH * best:
        return no(f"more streams give {best:.4g}, {count} give {rates[count]:.4g}")
    fewer = [name for name, rate in rates.items() if name < count and rate >= SAME * best]
    return whether(not fewer, f"{min(fewer, default=0)} streams give as much as {count}")


def _by(cells: Iterable[Cell], name: str) -> dict[int, float]:
    return {int(cell.parameters.get(name) or 1): cell.truth["goodput"] for cell in cells}


def _best_setting(case: Case) -> Judgement:
    """Return whether no other setting measured on the path really has more."""
    proof = case.fields["proof"]
    rate = case.world.reach(proof["then"]).rate
    # What another campaign had of TCP at its settings is no choice of this one, nor is what data had the other way.
    own = [item for item in case.world.setups if not item.days and Tool.backwards_at[0] not in item.factors]
    tried = [cell for setup in own if setup.tool == TOOL for cell in setup.cells]
    plain = [cell.truth["goodput"] for cell in tried if not cell.parameters.get("congestion")]
    return whether(rate >= ENOUGH * max(plain), f"it has {rate:.4g}, another {max(plain):.4g}")


def _sysctl(case: Case) -> Judgement:
    if "gain nothing" in case.title:
        return _gains_nothing(case)
    if "already" in case.title:
        now = _unclamped(case).reach(present(case) or {"window": 0, "streams": 1})
        wanted = case.parameter("window") or 0.0
        return whether(now.window >= 0.85 * wanted, f"the kernels allow {now.window:,.0f} B only")
    return _of_roomy_nodes(case, tcp.RMEM, tcp.WMEM)


def _of_roomy_nodes(case: Case, *keys: str) -> Judgement:
    """Return whether no node is named of which was told that all its limits have room, and that nothing is off."""
    world, sysctls_of = case.world, {node.name: (node.facts or {}).get("sysctls", {}) for node in case.world.nodes}
    named = [role for role in ("client", "server") if "both nodes" in case.title or role in str(case.sentence)]
    own = {role: sysctls_of.get(world.host(role).name, {}) for role in named}
    roomy = [
        role
        for role, sysctls in own.items()
        if all(int(sysctls.get(key, "0").split()[-1]) >= case.value for key in keys)
        and (tcp.RMEM not in keys or "0" not in (sysctls.get(tcp.SCALING), sysctls.get(tcp.TUNING)))
    ]
    return whether(not roomy, f"the limits of {' + '.join(roomy)} have room for {case.value:,.0f} B, as was told")


def _maxima(case: Case) -> Judgement:
    truth = min(case.world.client.value(tcp.WMEM_MAX), case.world.server.value(tcp.RMEM_MAX))
    maxima = float(case.fields.get("low") or 0)
    if not is_near(maxima, truth, 0.05):
        return no(f"the maxima are {truth:,} B, not {maxima:,.0f} B")
    return _of_roomy_nodes(case, tcp.RMEM_MAX, tcp.WMEM_MAX)


def _autotuning(case: Case) -> Judgement:
    if "Switch" in case.title:
        off = [host for host in (case.world.client, case.world.server) if host.value(tcp.TUNING) == 0]
        return whether(bool(off), "it is on at both ends")
    if "as much as" in case.title:
        rates = [case.world.reach({"streams": 1, "window": window}).rate for window in (0, int(case.value))]
        return whether(
            is_near(rates[1], rates[0], 0.05), f"the automatic window gives {rates[0]:.4g}, not {rates[1]:.4g}"
        )
    proof = case.fields["proof"]
    now, then = (case.world.reach(proof[key]).rate for key in ("now", "then"))
    return whether(then > now, f"the explicit window gives {now:.4g}, the automatic one {then:.4g}")


def _scaling(case: Case) -> Judgement:
    off = [host for host in (case.world.client, case.world.server) if host.value(tcp.SCALING) == 0]
    return whether(bool(off), "window scaling is on at both ends")


def _sack(case: Case) -> Judgement:
    return _switched_off(case, tcp.SACK)


def _timestamps(case: Case) -> Judgement:
    return _switched_off(case, tcp.TIMESTAMPS)


def _switched_off(case: Case, key: str) -> Judgement:
    off = [host for host in (case.world.client, case.world.server) if host.value(key) == 0]
    return whether(bool(off), f"{key} is on at both ends")


def _congestion(case: Case) -> Judgement:
    if "Try" in case.title:
        reached = case.world.reach(present(case))
        return whether(reached.is_limit(tcp.LOSS), f"{reached.limit} is the limit, not loss")
    if "depends on" in case.title:
        return undecided("it names no best one")
    rates = {cell.parameters.get("congestion"): cell.truth["goodput"] for cell in case.cells(TOOL)}
    best = case.sentence["params"]["best"]
    return whether(rates.get(best, 0.0) >= 0.98 * max(rates.values()), f"true rates: {rates}")


def _pacing(case: Case) -> Judgement:
    way = case.world.way
    if way.loss or way.late:
        return no("the loss is random, or segments come late, which pacing does not mend")
    if way.policer_bps < way.shaper_bps and way.policer_bps < case.world.capacity_bps:
        return undecided("a policer drops bursts: pacing below its rate may help")
    return whether(way.queue_bytes < case.world.bdp_bytes, "no burst is lost: the queue holds what the path does")


def _mtu(case: Case) -> Judgement:
    world = case.world
    if case.statement.subject == "path":
        return whether(world.way.mtu < case.sentence["params"]["allowed"], "larger packets pass")
    return whether(world.way.mtu >= case.value, f"the path passes {world.way.mtu} B only")


def _black_hole(case: Case) -> Judgement:
    if case.statement.subject != "black-hole":
        return undecided("a switch that is set")
    world = case.world
    holds = world.way.is_black_hole and min(world.client.mtu, world.server.mtu) > world.way.mtu
    return whether(holds, "there is no black hole")


RULES: Rules = {
    "tcp-bdp": _bdp,
    "tcp-limit": _limit,
    "tcp-per-flow-limit": _per_flow,
    "tcp-window-knee": _knee,
    "tcp-streams": _streams,
    "tcp-best-setting": _best_setting,
    "tcp-sysctl": _sysctl,
    "tcp-buffer-maxima": _maxima,
    "tcp-autotuning": _autotuning,
    "tcp-window-scaling": _scaling,
    "tcp-sack": _sack,
    "tcp-timestamps": _timestamps,
    "tcp-congestion": _congestion,
    "tcp-pacing": _pacing,
    "tcp-mtu": _mtu,
    "tcp-path-mtu": _black_hole,
}
