"""What does not agree within a publication, or between two: told beside the figures, and never computed with."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from apps.bench import network, units
from apps.bench.text import Message, _
from apps.tuning.published import places
from apps.tuning.published.drafts import CaseDraft
from apps.tuning.published.places import At

# Which facts of the second file tell more of a case, by the case's name.
FACTS = {
    "bdp-kisti-pnu": ("S0-01", "S0-04", "S0-05", "S0-06"),
    "bdp-10ms": ("S1-01", "S1-03"),
    "bdp-knu-koren": ("S4-01", "S4-02"),
    "bdp-knu-caltech": ("S4-06", "S4-09"),
    "window-limited": ("S0-02", "S0-03"),
    "x4500-storage": ("S0-08", "S0-10", "S0-20"),
    "nfs-does-not-scale": ("S0-12",),
    "pdaisy-server-polarised": ("S0-15", "S0-16", "S0-17", "S0-18"),
    "knu-caltech-udp": ("S4-05",),
    "knu-caltech-streams": ("S4-08",),
}
TRIPLES = ("tcp_rmem", "tcp_wmem")
# A printed BDP that is further off than rounding explains.
OFF = 0.005

_NUMBERS = re.compile(r"\s*([0-9]{1,15})\s+([0-9]{1,15})\s+([0-9]{1,15})\s*")


@dataclass(frozen=True)
class FactDoubts:
    """The doubts of a file of facts, by the fact's name."""

    doubts: dict[str, tuple[Message, ...]] = field(default_factory=dict)

    @property
    def remarks(self) -> tuple[Message, ...]:
        """Return every doubt in the order of the file."""
        return tuple(doubt for doubts in self.doubts.values() for doubt in doubts)

    def of_case(self, name: str) -> tuple[Message, ...]:
        """Return those that a case bears on."""
        return tuple(doubt for fact in FACTS.get(name, ()) for doubt in self.doubts.get(fact, ()))


def read_facts(text: str) -> FactDoubts:
    """Return the doubts in a file of facts: what it flags itself, and settings that no kernel takes."""
    doubts: dict[str, tuple[Message, ...]] = {}
    for item in places.read(text).get("facts").items():
        name, where = item.get("id").text(), item.find("where")
        params = {"fact": name, "where": where.text() if where else ""}
        own = [_flagged(item.get("flag"), params)] if item.has("flag") else []
        value = item.find("value")
        if value and isinstance(value.value, dict):
            own += list(_triples(value, params))
        if own:
            doubts[name] = tuple(own)
    return FactDoubts(doubts)


def of_case(case: At, given: At) -> tuple[Message, ...]:
    """Return what a case prints against its own figures."""
    return (*_bdp(case, given), *_beyond_disk(given))


def between(drafts: Iterable[CaseDraft]) -> list[Message]:
    """Return what cases print differently of one thing: the disk that NFS exports."""
    rates_by_metric: dict[str, dict[str, float]] = {}
    for draft in drafts:
        # A case with both disks says which is behind NFS; with one it is that.
        disk = draft.given.get("nfs_disk_B_per_s", draft.given.get("disk_B_per_s"))
        if not isinstance(disk, dict) or "nfs_B_per_s" not in draft.given:
            continue
        for metric, value in disk.items():
            if isinstance(value, int | float):
                rates_by_metric.setdefault(metric, {})[draft.name] = value
    text = _("The disk behind NFS is printed with %(rates)s for %(metric)s (%(cases)s).")
    return [
        Message(
            text, {"rates": " / ".join(map(_rate, values.values())), "metric": metric, "cases": ", ".join(values)}
        )
        for metric, values in rates_by_metric.items()
        if len(set(values.values())) > 1
    ]


def _flagged(flag: At, params: dict[str, Any]) -> Message:
    return Message(_("%(fact)s, %(where)s: %(flag)s"), {**params, "flag": flag.text()})


def _triples(value: At, params: dict[str, Any]) -> Iterable[Message]:
    for name in TRIPLES:
        item = value.find(name)
        match = _NUMBERS.fullmatch(item.text()) if item else None
        if match and not int(match[1]) <= int(match[2]) <= int(match[3]):
            text = _("%(fact)s, %(where)s: %(name)s is printed as “%(value)s”, not min ≤ default ≤ max.")
            yield Message(text, {**params, "name": name, "value": match[0].strip()})


def _bdp(case: At, given: At) -> Iterable[Message]:
    expect = case.find("expect")
    printed = expect.find("bdp_bytes") if expect else None
    rate, rtt = given.find("bit_per_s"), given.find("rtt_s")
    if not (printed and rate and rtt):
        return
    true = network.bdp_bytes(rate.number(), rtt.number()) or 0
    if abs(printed.number() - true) > OFF * true:
        text = _("The BDP is given as %(printed)s; %(rate)s · %(rtt)s / 8 is %(true)s.")
        rates = {
            "rate": units.format_quantity(rate.number(), "bit/s"),
            "rtt": units.format_quantity(rtt.number(), "s"),
        }
        yield Message(text, {**rates, "printed": f"{printed.number():,.0f} B", "true": f"{true:,} B"})


def _beyond_disk(given: At) -> Iterable[Message]:
    """Yield which client wrote or read faster than the disk behind its file system."""
    disk, by_client = given.find("nfs_disk_B_per_s"), given.find("nfs_B_per_s")
    for client, rates in by_client.members() if disk and by_client else ():
        for metric, limit in disk.members() if disk else ():
            rate = rates.find(metric)
            if rate and rate.number() > limit.number():
                text = _("%(client)s: %(metric)s over NFS is printed as %(rate)s, more than its disk's %(limit)s.")
                values = {"rate": _rate(rate.number()), "limit": _rate(limit.number())}
                yield Message(text, {"client": client, "metric": metric, **values})


def _rate(value: float) -> str:
    return units.format_quantity(value, "B/s")
