"""Senders faster than the bottleneck whose bursts are lost: let them pace (rule R13)."""

from apps.bench.rules.base import Alternative, Evidence, FindingDraft, Proof, Proposal
from apps.bench.rules.tcp import estimates
from apps.bench.rules.tcp.mtu import interface_of
from apps.bench.rules.tcp.path import read_path
from apps.bench.rules.tcp.present import Present, is_plain, read_all
from apps.bench.rules.tcp.verdict.case import FULL
from apps.bench.settings.catalogue import QDISC
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-pacing", 1
# An interface this many times as fast as the bottleneck sends bursts that the queue before it must hold.
FASTER = 1.5
# UDP that loses less than this below the capacity shows that the loss is not by chance.
CLEAN = 1e-4
# What to pace at: this share of the bottleneck, over all streams (fasterdata.es.net).
SHARE = 0.9


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the rate to pace at; None without loss, without a faster sender, or if UDP loses as well."""
    path, speed = read_path(evidence), _sender_speed(evidence)
    if path is None or path.capacity.is_lower_bound or not speed or speed < FASTER * path.capacity.value:
        return None
    lossy = [
        item
        for item in read_all(evidence)
        if is_plain(item.point)
        and (item.mean("retransmits") or 0) > 0
        and item.rate < FULL * path.ceiling_bps
        and not item.congestion.startswith("bbr")
    ]
    curve, trials = estimates.loss_curve_of(evidence)
    clean = [point for point in curve.points if point.offered <= FULL * path.capacity.value] if curve else []
    if not lossy or any(point.loss > CLEAN for point in clean):
        return None
    item = max(lossy, key=lambda one: one.rate)
    rate = SHARE * path.ceiling_bps / item.streams
    shown = {
        "rate": format_quantity(rate, "bit/s"),
        "speed": format_quantity(speed, "bit/s"),
        "capacity": format_quantity(path.capacity.value, "bit/s"),
        "count": f"{item.mean('retransmits') or 0:.0f}",
    }
    why = [
        Message(
            _("The sender's interface has %(speed)s, the bottleneck %(capacity)s: bursts wait or are lost there."),
            shown,
        ),
        Message(_("%(count)s segments were sent again in a run, and the path was not filled."), shown),
    ]
    if clean:
        why.append(Message(_("UDP below the capacity lost nothing: the loss comes of bursts, not by chance.")))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        title=Message(_("Pace each stream at %(rate)s"), shown),
        why=tuple(why),
        value=rate,
        unit="bit/s",
        formula=f"R = 0.9 · η · C / N = 0.9 · {format_quantity(path.ceiling_bps, 'bit/s')} / {item.streams}",
        evidence=tuple(sorted({*path.trials, *item.trials, *(trials if clean else ())})),
        change=_line(evidence, rate),
        undo=f"tc qdisc del dev {interface_of(evidence, 'client')} root\n",
        present=item.rate,
        confidence=0.6 if clean else 0.4,
        applies_when=Message(_("Linux senders; fq paces each connection by itself.")),
        limits=(
            Message(_("The line lasts until the next boot; iperf3 --fq-rate paces one program without it.")),
            Message(_("The gain is not predicted: on paths of 50 to 80 ms others saw 2 to 4 times.")),
        ),
        side_effects=(Message(_("All connections of the sender over this interface are paced so.")),),
        source="fasterdata.es.net/host-tuning/linux/packet-pacing",
        alternatives=_alternatives(item),
        missing=()
        if clean
        else (Message(_("Whether UDP below the capacity loses, too: then pacing gains nothing.")),),
        proof=_proof(item, rate),
    )


def _proof(item: Present, rate: float) -> Proof:
    """Return the same transfer with the interface as it is, and paced."""
    name = setting_names.name_of("client", QDISC)
    known = {"window": item.point.parameters.get("window") or 0, "streams": item.streams}
    return Proof("iperf3-tcp", "goodput", {**known, name: ""}, {**known, name: _discipline(rate)})


def _alternatives(item: Present) -> tuple[Alternative, ...]:
    return (
        Alternative(
            Message(_("The loss is random, on a bad link: pacing does not mend it.")),
            Message(_("Measure UDP at half the capacity for a minute.")),
            Proposal("iperf3-udp", {"duration": "60 s"}, {"rate": f"{max(1, round(item.rate / 2e6))} Mbit/s"}),
        ),
    )


def _sender_speed(evidence: Evidence) -> float | None:
    """Return the speed (bit/s) of the sender's interface: the first link's, else what its only interface says."""
    links = evidence.path.links
    if len(links) > 1 and links[0].capacity_bps:
        return links[0].capacity_bps
    name, told = interface_of(evidence, "client"), evidence.facts.get("client", {}).get("interfaces")
    for entry in told if isinstance(told, list) else []:
        if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get("speed_bps"), int | float):
            return float(entry["speed_bps"])
    return None


def _line(evidence: Evidence, rate: float) -> str:
    return f"tc qdisc replace dev {interface_of(evidence, 'client')} root {_discipline(rate)}\n"


def _discipline(rate: float) -> str:
    return f"fq maxrate {rate / 1e6:.0f}mbit"
