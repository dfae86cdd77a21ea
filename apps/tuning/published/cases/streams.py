"""Cases of parallel streams and of datagrams."""

import math
import re

from django.utils.translation import gettext

from apps.bench.rules.base import ABOUT, BELOW, SAMPLE, Ratio, Trend
from apps.bench.rules.shapes import SATURATES
from apps.tuning.published.cases.base import TCP, TUNED_WINDOW, UDP, CaseReading, PublishedCase, ends, path_given, rtt
from apps.tuning.published.drafts import PublishedValue, Setup
from apps.tuning.published.places import WrongPlace

VERSION = "1.7.0"
MEGABYTE = 10**6

_RATE = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?(?:e[0-9]{1,2})?")


def gridftp(case: PublishedCase) -> CaseReading:
    """Return how many times a tuned single stream several tuned streams reach, and untuned ones beside it."""
    roles = {
        "source": case.world.machines("PGFS", "PNU", 1),
        "destination": case.world.machines("KGFS", "KISTI", 1),
    }
    counts = (
        [item.whole(maximum=128) for item in case.given.get("streams").items()] if case.given.has("streams") else []
    )
    single, several = {"streams": 1, "window": TUNED_WINDOW}, {"streams": max(counts, default=1)}
    ratios = []
    gain = case.given.find("tuned_parallel_over_tuned_single")
    if gain and 1 in counts and several["streams"] > 1:
        tuned = {**several, "window": TUNED_WINDOW}
        ratios.append(Ratio("gridftp", "throughput", tuned, single, gain.number(), math.inf))
        if case.says(r"parallel streams untuned come close to one stream tuned"):
            ratios.append(Ratio("gridftp", "throughput", {**several, "window": 0}, single, 0.9, 1.1))
    return CaseReading((Setup("Parallel streams", "gridftp", roles, ratios=tuple(ratios)),))


def knu_koren(case: PublishedCase) -> CaseReading:
    """Return one stream and five on the clean line between KNU and KOREN's NOC."""
    roles = ends(case, "KNU", "KOREN NOC", ("KNU", "KOREN NOC"))
    figures = []
    for name, streams in (("single_stream_bit_per_s", 1), ("five_streams_sum_bit_per_s", 5)):
        if rate := case.given.find(name):
            # The paper found a window of 1 MB large enough for this line.
            parameters = {"window": TUNED_WINDOW, "streams": streams}
            figures.append(PublishedValue(rate.place, parameters, {"goodput": rate.number()}, SAMPLE))
    setups = [*rtt(case, roles), Setup("Streams", TCP, roles, figures=tuple(figures), version=VERSION)]
    return CaseReading(tuple(setups), path_given(case))


def knu_caltech_udp(case: PublishedCase) -> CaseReading:
    """Return the loss of offered loads, and the capacity that pathrate told."""
    roles = ends(case, "KNU", "Caltech", ("KNU", "Caltech"))
    figures = []
    for name, loss in case.given.get("loss_at_bit_per_s").members() if case.given.has("loss_at_bit_per_s") else ():
        if not _RATE.fullmatch(name):
            raise WrongPlace(loss.place, gettext("the name is a rate in bit/s, such as 400e6."))
        offered = round(float(name))
        values = {"sent_rate": float(offered), "loss": loss.share(), "goodput": offered * (1 - loss.share())}
        figures.append(PublishedValue(loss.place, {"protocol": "udp", "rate": offered}, values, ABOUT))
    setups = [Setup("Datagrams", UDP, roles, figures=tuple(figures), version=VERSION)]
    if estimates := case.given.find("pathrate_bit_per_s"):
        capacities = [item.number() for item in estimates.items()]
        if capacities:
            values = {
                "capacity_low": min(capacities),
                "capacity_high": max(capacities),
                "capacity": sum(capacities) / len(capacities),
            }
            setups.append(
                Setup("Capacity", "pathrate", roles, figures=(PublishedValue(estimates.place, {}, values, ABOUT),))
            )
    return CaseReading(tuple(setups))


def knu_caltech(case: PublishedCase) -> CaseReading:
    """Return the one stream that stays below a rate, and the number of streams up to which the sum grows."""
    roles = ends(case, "KNU", "Caltech", ("KNU", "Caltech"))
    window = case.says(r"with an? (\d+) MB window")
    fixed = {"window": int(window[1]) * MEGABYTE} if window else {}
    figures, trends = [], []
    if single := case.given.find("single_stream_bit_per_s_below"):
        figures.append(PublishedValue(single.place, {"streams": 1, **fixed}, {"goodput": single.number()}, BELOW))
    if until := case.given.find("linear_until"):
        knee = float(until.whole(maximum=10**6))
        trends.append(Trend(TCP, "goodput", "streams", SATURATES, knee=knee, fixed=fixed))
    setup = Setup("Streams", TCP, roles, figures=tuple(figures), trends=tuple(trends), version=VERSION)
    return CaseReading((*rtt(case, roles), setup), path_given(case))
