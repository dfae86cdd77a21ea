"""Loads of datagrams of several lengths: what is told arrived of one of them, and the number a second is a rival."""

import random
import re

import pytest

from apps.bench.rules.base import PathFacts
from apps.bench.rules.path import datagrams, findings, loss
from apps.bench.rules.tcp import estimates
from apps.bench.units import format_quantity
from tests import sayings
from tests.bench.rules.cases import Maker, evidence

LINE, SEEDS = 1e9, range(40)
RATES = (100_000_000, 200_000_000, 400_000_000, 600_000_000, 900_000_000)
FIGURES = re.compile(r"Of ([\d.]+ [kMG]?bit/s) offered ([\d.]+ [kMG]?bit/s) arrived")


def world(seed, lengths=(512, 1448)):
    """Return loads whose receiver takes so many datagrams a second, and {(offered, arrived)} as texts (3 figures)."""
    chance, make = random.Random(seed), Maker()
    count, most = chance.uniform(25e3, 75e3), chance.choice((1, 2, 3))
    points, settings = [make.ping(0.01)], {}
    for length in lengths:
        for rate in RATES:
            arrived = min(rate, count * 8 * length, 0.957 * LINE)
            for _turn in range(most):
                points.append(make.udp(arrived, 1 - arrived / rate, rate=rate, length=length, duration=10))
            settings[format_quantity(float(rate), "bit/s"), format_quantity(arrived, "bit/s")] = arrived
    return evidence(points, PathFacts(LINE, 0.01, 1500)), settings, count


@pytest.mark.parametrize("lengths", [(512, 1448), (256, 512, 1448), (512, 1024)])
def test_what_arrived_is_that_of_one_length(lengths):
    told = 0
    for seed in SEEDS:
        measured, settings, _count = world(seed, lengths)
        for draft in findings(measured):
            text = " ".join(sayings.filled(line.as_json()) for line in (draft.title, *draft.why))
            for pair in FIGURES.findall(text):
                assert pair in settings, (seed, pair, settings)
                told += 1
        held = datagrams.conclude(measured)
        assert held is None or held.value >= 0.99 * max(settings.values()), (seed, held.title)
    assert told >= len(SEEDS) // 4


def test_lengths_are_named_where_several_were_sent_and_not_where_one_was():
    named = 0
    for seed in SEEDS:
        measured, _settings, _count = world(seed)
        draft = datagrams.conclude(measured)
        if draft is not None:
            assert draft.title.params["length"] == "1448 B"
            assert any("512 B" in str(line.params) for line in draft.why)
            named += 1
        alone = datagrams.conclude(world(seed, (1448,))[0])
        assert alone is None or "length" not in alone.title.params
    assert named


def test_so_many_datagrams_a_second_are_a_rival_unless_shorter_ones_had_the_same_rate():
    for seed in SEEDS:
        measured, _settings, count = world(seed)
        draft = datagrams.conclude(measured)
        if draft is None:
            continue
        (rival,) = [item for item in draft.alternatives if "count" in item.title.params]
        assert float(rival.title.params["count"].replace(",", "")) == pytest.approx(count, rel=0.01)
    make = Maker()
    points = [make.udp(min(rate, 3e8), max(0, 1 - 3e8 / rate), rate=rate, length=length, duration=10)
              for rate in RATES for length in (512, 1448)]  # fmt: skip
    draft = datagrams.conclude(evidence(points, PathFacts(LINE, 0.01, 1500)))
    assert not [item for item in draft.alternatives if "count" in item.title.params]


def test_no_loss_is_a_mean_over_lengths():
    for seed in SEEDS:
        measured, _settings, _count = world(seed)
        curve, trials = estimates.loss_curve_of(measured)
        (length,) = {point.parameters["length"] for point in measured.points
                     if {*trials} & {*point.trials("loss")}}  # fmt: skip
        assert length == 1448
        assert len(curve.points) == len(RATES)
        draft = loss.conclude(measured)
        assert draft is None or {*draft.evidence} <= {*trials}


@pytest.mark.parametrize("mtu", [1500, 9000])
@pytest.mark.parametrize("length", [64, 200, 512, 1024, 1300, 1400, 1448, 1472, 4096, 8948])
@pytest.mark.parametrize("held", [1.0, 0.5])
def test_what_is_said_of_the_path_is_of_the_line_or_says_of_which_datagrams(length, mtu, held):
    """The payload of datagrams that fill no frame is no rate of the path, however long they are."""
    if length > mtu:
        return
    make = Maker()
    payload = held * LINE * length / (length + 66)
    points = [make.ping(0.01)]
    for share in (0.5, 0.8, 1.2, 1.5):
        arrived = min(share, 1) * payload
        points += [make.udp(arrived, 1 - arrived / (share * payload), rate=round(share * payload), length=length)] * 2
    drafts = [draft for draft in findings(evidence(points, PathFacts(LINE, 0.01, mtu))) if draft.unit == "bit/s"]
    drafts = [draft for draft in drafts if draft.rule in ("path-capacity", "path-datagrams")]
    assert drafts
    for draft in drafts:
        is_full = (mtu + 38) / (mtu - 28) * 1.02 > (length + 66) / length
        assert is_full or draft.title.params.get("length") == format_quantity(length, "B"), draft.title
        if draft.rule == "path-capacity":
            assert draft.value == pytest.approx(held * LINE if not is_full else payload, rel=0.01)
