"""Senders faster than the bottleneck whose bursts are lost: let them pace."""

from collections.abc import Iterable

from apps.bench.rules import pace
from apps.bench.rules.base import Alternative, Evidence, FindingDraft, Proof, Proposal
from apps.bench.rules.tcp import estimates, held, verdict
from apps.bench.rules.tcp.loss_law import LEAVES_MORE, read_loss_law
from apps.bench.rules.tcp.mtu import interface_of
from apps.bench.rules.tcp.path import read_path
from apps.bench.rules.tcp.present import Present, is_plain, read_all
from apps.bench.settings.catalogue import QDISC
from apps.bench.sweep import setting_names
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-pacing", 8
# An interface this many times as fast as the bottleneck sends bursts that the queue before it must hold.
FASTER = 1.5
# Pacing is worth its trouble where it leaves this much more than what there is.
MORE = 1.05
# What to pace at: this share of the bottleneck, over all streams (fasterdata.es.net).
SHARE = 0.9
# Many more streams have as much as few if they have less than so many times it.
ALIKE = 1.2


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the rate to pace at; None without loss or a faster sender, or unless UDP lost none, in order.

    Random loss looks the same to TCP: datagrams below the capacity tell it apart, if there were enough of them.
    """
    path, speed = read_path(evidence), _sender_speed(evidence)
    if path is None or not speed:
        return None
    # Of links that nothing came near what is said of them serves: to pace at more than they have does no harm.
    ceiling = path.stated_bps if path.capacity.is_lower_bound else path.ceiling_bps
    capacity = evidence.path.capacity_bps if path.capacity.is_lower_bound else path.capacity.value
    if not ceiling or not capacity or speed < FASTER * capacity:
        return None
    lossy = [
        item
        for item in read_all(evidence)
        if is_plain(item.point)
        and sum(item.point.values("retransmits")) >= held.LEAST_AGAIN
        and MORE * item.rate < SHARE * ceiling
        # What comes out of order is sent again though no burst was lost: that is to be ruled out.
        and item.may_be_late is False
        and not pace.flags_of(item.point)
        and not item.congestion.startswith("bbr")
        # So little lost leaves far more by its law: something else holds the rate, and pacing mends nothing.
        and not _leaves_more(item, path.rtt.longest)
    ]
    if not lossy or _is_shared(max(lossy, key=lambda one: one.rate), read_all(evidence)):
        return None
    limit = verdict.conclude(evidence)
    item = max(lossy, key=lambda one: one.rate)
    udp_loss = estimates.lost_by_datagrams(evidence, capacity, item.lost_share or 0.0)
    is_clean = udp_loss is not None and udp_loss[0] <= estimates.CLEAN * (item.lost_share or 0.0)
    if estimates.chance_of(evidence, capacity) is not None:
        # What chance loses no pace mends, whatever bursts lose beside it.
        return None
    if udp_loss is None or not is_clean or (limit is not None and limit.subject in ("path", "window", "processor")):
        return None
    trials = udp_loss[1]
    rate = SHARE * ceiling / item.streams
    if any(one.rate / one.streams > rate for one in read_all(evidence)):
        # Each connection is paced so: one that has more by itself would lose what many gain.
        return None
    params = {
        "streams": item.streams,
        "rate": format_quantity(rate, "bit/s"),
        "speed": format_quantity(speed, "bit/s"),
        "capacity": format_quantity(capacity, "bit/s"),
        "count": f"{item.mean('retransmits') or 0:.0f}",
    }
    reasons = [
        Message(
            _("The sender's interface has %(speed)s, the bottleneck %(capacity)s: bursts wait or are lost there."),
            params,
        ),
        Message(_("%(count)s segments were sent again in a run, and the path was not filled."), params),
    ]
    reasons.append(
        Message(_("UDP below the capacity lost nothing, and came in order: the loss comes of bursts, not by chance."))
    )
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        title=Message(
            _("Pace each stream of %(streams)s at %(rate)s")
            if item.streams > 1
            else _("Pace a single stream at %(rate)s"),
            params,
        ),
        why=tuple(reasons),
        value=rate,
        unit="bit/s",
        formula=f"R = 0.9 · η · C / N = 0.9 · {format_quantity(ceiling, 'bit/s')} / {item.streams}",
        evidence=tuple(sorted({*path.trials, *item.trials, *trials})),
        change=_line(evidence, rate),
        undo=f"tc qdisc del dev {interface_of(evidence, evidence.sender)} root\n",
        present=item.rate,
        predicted_unit="bit/s",
        confidence=0.6,
        applies_when=Message(_("Linux senders; fq paces each connection by itself.")),
        limits=(
            Message(_("The line lasts until the next boot; iperf3 --fq-rate paces one program without it.")),
            Message(_("The gain is not predicted: on paths of 50 to 80 ms others saw 2 to 4 times.")),
        ),
        side_effects=(Message(_("All connections of the sender over this interface are paced so.")),),
        source="fasterdata.es.net/host-tuning/linux/packet-pacing",
        alternatives=_alternatives(item),
        proof=_proof(evidence, item, rate),
    )


def _is_shared(item: Present, others: Iterable[Present]) -> bool:
    """Return whether many more streams have no more together: what they share holds them, not the loss of each."""
    more = [one.rate for one in others if one.streams >= 2 * item.streams and is_plain(one.point)]
    return bool(more) and max(more) < ALIKE * item.rate


def _leaves_more(item: Present, rtt_s: float) -> bool:
    law = read_loss_law(item, rtt_s)
    return law is not None and law.word == LEAVES_MORE


def _proof(evidence: Evidence, item: Present, rate: float) -> Proof:
    """Return the same transfer with the interface as it is, and paced."""
    name = setting_names.name_of(evidence.sender, QDISC)
    fixed = {"window": item.point.parameters.get("window") or 0, "streams": item.streams}
    return Proof("iperf3-tcp", "goodput", {**fixed, name: ""}, {**fixed, name: _discipline(rate)})


def _alternatives(item: Present) -> tuple[Alternative, ...]:
    return (
        Alternative(
            Message(_("The loss is random, on a bad link: pacing does not mend it.")),
            Message(_("Measure UDP at half the capacity for a minute.")),
            Proposal("iperf3-udp", {"duration": "60 s"}, {"rate": f"{max(1, round(item.rate / 2e6))} Mbit/s"}),
        ),
    )


def _sender_speed(evidence: Evidence) -> float | None:
    """Return the speed (bit/s) of the sender's interface: its own link's, else what its only interface says."""
    links = evidence.path.links
    own = (links[-1] if evidence.is_back else links[0]) if len(links) > 1 else None
    if own is not None and own.capacity_bps:
        return own.capacity_bps
    sender = evidence.sender
    name, interfaces = interface_of(evidence, sender), evidence.facts.get(sender, {}).get("interfaces")
    for entry in interfaces if isinstance(interfaces, list) else []:
        if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get("speed_bps"), int | float):
            return float(entry["speed_bps"])
    return None


def _line(evidence: Evidence, rate: float) -> str:
    return f"tc qdisc replace dev {interface_of(evidence, evidence.sender)} root {_discipline(rate)}\n"


def _discipline(rate: float) -> str:
    return f"fq maxrate {rate / 1e6:.0f}mbit"
