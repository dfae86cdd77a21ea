"""What a campaign's own sweep of windows refutes is no advice, and no page both tells windows apart and does not."""

import itertools

import pytest

from apps.bench import curve
from apps.bench.rules import of_ends
from apps.bench.rules.base import RECOMMENDATION
from apps.bench.rules.runner import conclude_all
from apps.bench.units import format_quantity
from tests.bench.rules.cases import LINKS, Maker, evidence

KIB = 1024
# Rates (Mbit/s) of three runs by window (KiB, 0: the kernel's own): a demo's, on processors that were full.
DEMO = {
    32: (54.4, 51.9, 53.5), 64: (133.1, 105.9, 103.0), 128: (232.8, 194.6, 212.0), 256: (426.5, 377.6, 332.4),
    512: (732.5, 580.0, 655.5), 1024: (951.4, 732.7, 703.3), 2048: (986.3, 710.7, 856.7), 4096: (987.1, 917.0, 785.4),
    0: (985.0, 880.8, 893.4),
}  # fmt: skip
SWEEPS = {
    "demo": DEMO,
    "steady": {64: (109, 110, 108), 512: (655, 650, 660), 1024: (796, 790, 800), 2048: (851, 850, 855),
               0: (919, 918, 922)},
    "windows help": {64: (109, 110, 108), 1024: (960, 955, 962), 2048: (975, 974, 978), 0: (500, 505, 498)},
    "small only": {64: (109, 110, 108), 256: (430, 431, 428), 0: (700, 705, 698)},
    "alike": {512: (600, 700, 500), 2048: (610, 705, 520), 0: (650, 720, 540)},
}  # fmt: skip


def drafts_of(sweep, *, busy: bool, granted: float = 2.0):
    make = Maker()
    points = [make.ping(0.0048)]
    for window, rates in sweep.items():
        point = make.tcp([rate * 1e6 for rate in rates], window=window * KIB)
        trials = point.trials("goodput")
        if busy:
            point.metrics["cpu_local"] = dict.fromkeys(trials, 99.5)
        if window:
            point.metrics["window_granted"] = dict.fromkeys(trials, granted * window * KIB)
        points.append(point)
    return conclude_all(of_ends(), evidence(points, LINKS))


def advised(drafts):
    return [draft for draft in drafts if draft.rule in ("tcp-bdp", "tcp-sysctl") and draft.kind == RECOMMENDATION]


@pytest.mark.parametrize(("name", "busy"), [*itertools.product(SWEEPS, (False, True))])
def test_no_larger_window_is_advised_that_the_sweep_refutes(name, busy):
    drafts = drafts_of(SWEEPS[name], busy=busy)
    own = sum(SWEEPS[name][0]) / 3
    # The path holds 586 KiB.
    roomy = [sum(rates) / 3 for window, rates in SWEEPS[name].items() if window >= 586]
    if roomy and max(SWEEPS[name]) >= 2 * 586 and max(roomy) <= own:
        assert not advised(drafts), [str(draft.title) for draft in advised(drafts)]
    kept = [str(draft.title) for draft in drafts if "Ask for no window:" in str(draft.title)]
    assert not (kept and advised(drafts)), kept
    assert not (name == "windows help" and not busy) or "tcp-autotuning" not in {draft.rule for draft in drafts}


def test_windows_that_the_kernel_did_not_grant_refute_nothing():
    steady = SWEEPS["steady"] | {
        0: (500, 502, 498),
        512: (300, 301, 302),
        1024: (300, 301, 302),
        2048: (300, 302, 301),
    }
    texts = [str(line) for draft in drafts_of(steady, busy=False, granted=0.2) for line in draft.against]
    assert not [text for text in texts if "no more than the kernel's own" in text]


@pytest.mark.parametrize(("name", "busy"), [*itertools.product(SWEEPS, (False, True))])
def test_windows_that_are_called_slower_are_told_apart_by_the_sentence_too(name, busy):
    sweep = SWEEPS[name]
    for draft in drafts_of(sweep, busy=busy):
        if draft.rule != "tcp-autotuning" or "slower" not in str(draft.title):
            continue
        windows = sorted(sweep)
        reading = curve.read_places([sweep[window] for window in windows])
        rivals = {windows[place] for place in reading.rivals}
        named = {format_quantity(window * KIB, "B"): window for window in windows}
        largest = named[str(draft.title.params["window"])]
        is_named = reading.form is curve.CurveForm.BEST and windows[reading.best] == 0
        assert not is_named or not {window for window in windows if 0 < window <= largest} & rivals
