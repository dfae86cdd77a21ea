"""Cases of the bandwidth-delay product and of the window."""

from apps.bench.rules.base import ABOUT, SAMPLE, Trend
from apps.bench.rules.shapes import SATURATES
from apps.tuning.published.cases.base import TCP, CaseReading, PublishedCase, ends, path_given, rtt
from apps.tuning.published.drafts import PublishedValue, Setup

MEGABYTE = 2**20


def kisti_pnu(case: PublishedCase) -> CaseReading:
    """Return the RTT of the line between KISTI and PNU."""
    roles = ends(case, "KGFS", "PGFS", ("KISTI", "PNU"))
    return CaseReading(tuple(rtt(case, roles)), path_given(case))


def own_pair(case: PublishedCase) -> CaseReading:
    """Return the RTT of an example that names no places: it gets two nodes of its own."""
    path = path_given(case)
    a, b = case.world.pair(case.name, path.get("capacity_bps"), path.get("rtt_s"))
    return CaseReading(tuple(rtt(case, {"client": (a,), "server": (b,)})), path)


def knu_koren(case: PublishedCase) -> CaseReading:
    """Return the RTT between KNU and KOREN's NOC, and the window from which on the line was filled."""
    roles = ends(case, "KNU", "KOREN NOC", ("KNU", "KOREN NOC"))
    setups = rtt(case, roles)
    match = case.says(r"only from an? (\d+) MB window was the gigabit filled")
    rate = case.given.find("bit_per_s")
    if match and rate:
        window = float(match[1]) * MEGABYTE
        fixed = {"streams": 1, "protocol": "tcp"}
        trend = Trend(TCP, "goodput", "window", SATURATES, knee=window, best=rate.number(), fixed=fixed)
        setups.append(Setup("Window", TCP, roles, trends=(trend,), version="1.7.0"))
    return CaseReading(tuple(setups), path_given(case))


def knu_caltech(case: PublishedCase) -> CaseReading:
    """Return the RTT between KNU and Caltech, and the capacity that pathrate measured."""
    roles = ends(case, "KNU", "Caltech", ("KNU", "Caltech"))
    setups = rtt(case, roles)
    if rate := case.given.find("bit_per_s"):
        figure = PublishedValue(rate.place, {}, {"capacity": rate.number()}, ABOUT)
        setups.append(Setup("Capacity", "pathrate", roles, figures=(figure,)))
    path = path_given(case)
    path.pop("capacity_bps", None)
    return CaseReading(tuple(setups), path)


def window_limited(case: PublishedCase) -> CaseReading:
    """Return the rates of one stream at windows, "default" being that of the kernel."""
    roles = ends(case, "KGFS", "PGFS", ("KISTI", "PNU"))
    figures = []
    for item in case.given.get("measured").items() if case.given.has("measured") else ():
        window = item.get("window_bytes").whole(maximum=2**29) if item.has("window_bytes") else 0
        statistic = ABOUT if item.has("approx") and item.get("approx").value is True else SAMPLE
        values = {"goodput": item.get("bit_per_s").number()}
        figures.append(PublishedValue(item.place, {"window": window, "streams": 1}, values, statistic))
    setups = [*rtt(case, roles), Setup("Window", TCP, roles, figures=tuple(figures))]
    return CaseReading(tuple(setups), path_given(case))
