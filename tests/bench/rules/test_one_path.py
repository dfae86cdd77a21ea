"""One path has one RTT, one capacity and so one BDP, whichever of its ends' measurements is asked."""

import dataclasses
import itertools

import pytest

from apps.bench.rules import of_ends
from apps.bench.rules.base import RECOMMENDATION, Evidence, PathFacts
from apps.bench.rules.runner import conclude_all
from apps.bench.rules.tcp.path import read_path
from tests.bench.rules.cases import LINKS, Maker
from tests.rotation import part_of


def beside(*evidence: Evidence) -> list[Evidence]:
    """Return evidence of one path in the order of asking, each with the others."""
    return [
        dataclasses.replace(item, beside=(*evidence[:place], *evidence[place + 1 :]), elder=place)
        for place, item in enumerate(evidence)
    ]


def tcp(make: Maker, rate: float, *, rtt: float = 0.0, streams: tuple[int, ...] = (1, 2, 4), path=LINKS) -> Evidence:
    points = [make.tcp([rate * 1e6, rate * 1.001e6, rate * 0.999e6], streams=count) for count in streams]
    return Evidence((*points, *([make.ping(rtt)] if rtt else [])), path)


@pytest.mark.parametrize("back", [985, 940, 300])
def test_measured_both_ways_and_by_transfers_a_path_has_one_bdp(back: int) -> None:
    make = Maker()
    forth, reverse = tcp(make, 985, rtt=0.004778), tcp(make, back, rtt=0.0049)
    transfers = Evidence((make.ping(0.005),))
    readings = [read_path(item) for item in beside(forth, reverse, transfers)]
    assert all(reading is not None for reading in readings)
    assert {reading.rtt.value for reading in readings if reading} == {0.004778}
    # A direction that surely carries another rate has its own capacity, and says so.
    one = [reading for reading, item in zip(readings, (985, back, 985), strict=True) if reading and item > 900]
    assert len({reading.bdp_bytes for reading in one}) == 1
    assert len({str(reading.capacity.source) for reading in one}) == 1
    if back < 900:
        assert readings[1] is not None
        assert readings[1].bdp_bytes != one[0].bdp_bytes


def test_what_links_are_only_said_to_carry_gives_way_to_what_was_measured() -> None:
    make = Maker()
    unswept = dataclasses.replace(LINKS, capacity_bps=2e9)
    measurements = tcp(make, 985, rtt=0.0048, path=unswept)
    lone = Evidence((make.ping(0.0048),), unswept)
    first, second = (read_path(item) for item in beside(measurements, lone))
    alone = read_path(lone)
    assert first is not None and second is not None and alone is not None
    assert alone.bdp_bytes != first.bdp_bytes
    assert (second.bdp_bytes, str(second.capacity.source)) == (first.bdp_bytes, str(first.capacity.source))


def test_what_was_measured_otherwise_is_advised_upon_there_alone() -> None:
    make = Maker()
    measurements, transfers = beside(tcp(make, 985, rtt=0.0048), Evidence((make.ping(0.0049),), LINKS))
    assert "tcp-bdp" in {draft.rule for draft in conclude_all(of_ends(), measurements)}
    assert not [draft.rule for draft in conclude_all(of_ends(), transfers) if draft.rule.startswith("tcp-")]


WINDOWS = (65_536, 262_144, 1_048_576, 4_194_304)
SMALL = {"net.ipv4.tcp_rmem": "4096 131072 262144", "net.ipv4.tcp_wmem": "4096 16384 262144"}
LARGE = {"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 6291456"}


@pytest.mark.parametrize(
    ("path", "sysctls", "automatic", "ceiling", "windows"),
    part_of(
        itertools.product(
            (LINKS, PathFacts(rtt_s=0.0048), PathFacts()),
            ({}, SMALL, LARGE),
            (None, 218, 500, 985),
            (100, 500, 900, 985),
            (WINDOWS, WINDOWS[3:], WINDOWS[2:3], ()),
        ),
        # Common to none of these numbers of values: each value is tried in each run.
        parts=7,
    ),
)
def test_of_one_path_windows_have_one_verdict(path, sysctls, automatic, ceiling, windows) -> None:
    """Where a larger window is said to gain nothing no rule advises one, and the other way about."""
    make = Maker()
    rates = {window: min(ceiling, window * 8 / 0.0048 / 1e6) for window in windows}
    points = [make.ping(0.0048)]
    points += [
        make.tcp([rate * 1e6, rate * 1.002e6], window=window, observed=window) for window, rate in rates.items()
    ]
    points += [make.tcp([automatic * 1e6, automatic * 1.002e6])] if automatic else []
    facts = {role: {"sysctls": sysctls} for role in ("client", "server")} if sysctls else {}
    drafts = conclude_all(of_ends(), Evidence(tuple(points), path, facts))
    vain = [str(draft.title) for draft in drafts if "gain nothing now" in str(draft.title)]
    vain += [str(draft.title) for draft in drafts if "gains nothing now" in str(draft.title)]
    advised = [
        str(draft.title)
        for draft in drafts
        if draft.kind == RECOMMENDATION and (draft.rule in ("tcp-bdp", "tcp-sysctl") or _larger(draft))
    ]
    assert not (vain and advised), (vain, advised)
    # Nor does a reason tell of the gain that the title denies.
    reasons = [str(line) for draft in drafts if "nothing" in str(draft.title) for line in draft.why]
    assert not [line for line in reasons if "a gain of" in line]


def _larger(draft) -> bool:
    """Return whether a proposal is of a larger window of the same streams."""
    now, then = (draft.proof.now, draft.proof.then) if draft.proof else ({}, {})
    return bool(then.get("window")) and then["window"] != now.get("window") and then["streams"] == now.get("streams")
