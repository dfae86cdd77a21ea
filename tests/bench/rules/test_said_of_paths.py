"""What is said of a path was shown of it; what figures refute is not listed; equals are told together."""

import dataclasses
import itertools
import re

import pytest

from apps.bench.network import loss_curve
from apps.bench.network.loss_curve import LoadPoint
from apps.bench.rules import of_ends, path, tcp
from apps.bench.rules.base import DIAGNOSIS, LinkFacts, PathFacts
from apps.bench.rules.passed import Passed
from apps.bench.rules.runner import conclude_all
from apps.bench.rules.tcp import autotuning, bdp, congestion, limits, streams
from tests.bench.rules.cases import KIB, Maker, evidence

MIB, RTT = KIB * KIB, 0.02
LINKS = PathFacts(1e9, RTT, 1500, (LinkFacts("WAN", 1e9),), "WAN")
WIDE = PathFacts(1e10, RTT, 1500, (LinkFacts("WAN", 1e10),), "WAN")
# {offered load: what arrives of it} (Mbit/s): a limit, chance, a disturbance, a queue that collapses, a full link.
LOADS = {
    "held": {100: 99.8, 200: 199.6, 300: 299.4, 400: 330, 600: 332, 800: 331},
    "chance": {rate: 0.98 * rate for rate in (50, 100, 200, 400, 800, 900)},
    "disturbed": {100: 90, 200: 200, 400: 400, 800: 800, 950: 941},
    "collapse": {100: 99.9, 300: 299.7, 500: 500, 700: 420, 900: 300},
    "full": {400: 400, 800: 800, 950: 941, 1000: 941, 1200: 941},
    "chance, and held": {rate: min(0.97 * rate, 400) for rate in (50, 100, 200, 400, 600, 800)},
    "one": {100: 98, 800: 790},
    "low": {100: 60, 200: 70, 400: 80},
}


@pytest.fixture
def make():
    return Maker()


def loads(make, name):
    return [
        make.udp(arrived * 1e6, 1 - arrived / rate, rate=round(rate * 1e6), duration=10)
        for rate, arrived in LOADS[name].items()
    ]


def drafts_of(points, links=LINKS):
    measurements = evidence(points, links)
    return [*tcp.findings(measurements), *path.findings(measurements)]


def lines(draft):
    return [str(line) for line in (draft.title, *draft.why, *draft.against)]


def bits(text):
    """Return the rates (bit/s) that a sentence names."""
    units = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}
    return [float(number) * units[unit] for number, unit in re.findall(r"([\d.]+) ([kMG]?)bit/s", text)]


def row(make, rate, **more):
    """Return four runs of a setting (rate in Mbit/s) with their RTT under load and what was sent again."""
    again, waits = more.pop("again", None), more.pop("waits", RTT)
    point = make.tcp([rate * 1e6 * share for share in (0.998, 1.001, 1.002, 0.999)], rtt=RTT, duration=10, **more)
    del point.metrics["window_observed"]
    trials = point.trials("goodput")
    point.metrics["mean_rtt"] = dict.fromkeys(trials, waits)
    if again is not None:
        point.metrics["retransmits"] = dict.fromkeys(trials, float(again))
    return point


@pytest.mark.parametrize(("name", "links"), [*itertools.product(LOADS, (LINKS, WIDE, PathFacts(None, RTT)))])
def test_panel_and_findings_of_loads_agree(make, name, links):
    """Chance is chance on the whole page, and where it is nobody is asked for smaller loads to tell it."""
    points = [make.ping(RTT), *loads(make, name)]
    told = {draft.rule: draft for draft in drafts_of(points, links)}
    curve = loss_curve.analyse([LoadPoint(rate * 1e6, 1 - got / rate) for rate, got in LOADS[name].items()])
    panel = " ".join(map(str, curve.conclusions))
    if "path-loss" in told:
        assert "offer less" not in panel
    if "loss by chance, and no path that is full" in panel and "tcp-bdp" in told:
        assert "path-loss" in told
    if "does not grow with the load" in panel:
        assert "path-datagrams" not in told or max(bits(str(told["path-datagrams"].why[0]))) > max(curve.whole, 0)


@pytest.mark.parametrize(("name", "links"), [*itertools.product(LOADS, (LINKS, WIDE))])
def test_no_flow_is_held_below_what_arrived(make, name, links):
    told = {draft.rule: draft for draft in drafts_of([make.ping(RTT), *loads(make, name)], links)}
    draft = told.get("path-datagrams")
    lossy = {"held", "collapse", "chance, and held", "low", *(["full"] if links is WIDE else [])}
    assert (draft is None) == (name not in lossy or "path-capacity" in told)
    if draft:
        offered, arrived = bits(str(draft.why[0]))
        assert 0.999 * arrived <= draft.value <= offered
        assert offered > max((rate * 1e6 for rate, got in LOADS[name].items() if got > 0.995 * rate), default=0)


@pytest.mark.parametrize("name", LOADS)
def test_what_arrived_is_no_capacity_of_the_path(make, name):
    """Links of ten times as much: what one flow of datagrams had is told as what arrived, not as the path's."""
    for draft in drafts_of([make.ping(RTT), *loads(make, name)], WIDE):
        for line in lines(draft):
            assert not re.search(r"bit/s (of the path|that the path holds)", line), line
    told = {draft.rule: draft for draft in drafts_of([make.ping(RTT), *loads(make, "held")], LINKS)}
    assert "far below the 332.0 Mbit/s that arrived at most" in str(told["path-loss"].why[0])
    full = {rate: 0.98 * got for rate, got in LOADS["full"].items()}
    points = [make.udp(got * 1e6, 1 - got / rate, rate=rate * 10**6, duration=10) for rate, got in full.items()]
    confirmed = [make.ping(RTT), *points, row(make, 935, streams=8)]
    assert "of the path, lost" in str({d.rule: d for d in drafts_of(confirmed)}["path-loss"].why[0])


STATED = {
    "processor": {(0, 1): 400, (0, 2): 402, (0, 4): 401},
    "streams multiply": {(0, 1): 20, (0, 2): 40, (0, 4): 80, (0, 16): 320, (MIB, 1): 20},
    "window": {(0, 1): 20, (MIB, 1): 60, (4 * MIB, 1): 61},
    "fall": {(0, 1): 100, (0, 2): 200, (0, 4): 400, (0, 8): 150},
}


@pytest.mark.parametrize("name", STATED)
def test_of_links_as_described_nothing_is_said_as_of_the_path(make, name):
    points = [make.ping(RTT)]
    for (window, count), rate in STATED[name].items():
        point = row(make, rate, window=window, streams=count, again=0)
        if name == "processor":
            point.metrics["cpu_remote"] = dict.fromkeys(point.trials("goodput"), 98.0)
        points.append(point)
    drafts = drafts_of(points)
    assert drafts
    for draft in drafts:
        for line in lines(draft):
            of_path = re.search(r"the path holds|of the path|TCP can have|The path is the limit", line)
            assert not of_path or line.startswith("If the links") or "at least" in line, line


@pytest.mark.parametrize("links", [LINKS, PathFacts(1e9, None, 1500)])
def test_chance_that_datagrams_met_leaves_nothing_to_a_larger_window(make, links):
    points = [make.ping(RTT), *loads(make, "chance")]
    for rule in (bdp, limits):
        draft = rule.conclude(evidence(points, links))
        assert (draft.kind, draft.change) == ("no-change", "")
        assert "are lost: by chance that leaves one stream about" in str(draft.against[0])
    # What TCP itself has is more than such loss leaves: then it is not lost to TCP.
    own = row(make, 300)
    assert not [line for line in bdp.conclude(evidence([*points, own], links)).against if "by chance" in str(line)]
    # As many loads that lost nothing leave it open.
    clean = [make.udp(rate * 1e6, 0.0, rate=rate * 10**6, duration=10) for rate in LOADS["chance"]]
    assert bdp.conclude(evidence([make.ping(RTT), *clean, make.udp(940e6, 0.0)], links)).kind == "recommendation"


@pytest.mark.parametrize(
    ("again", "waits", "named"),
    [
        (None, RTT, {"buffer", "loss", "shaper"}),
        (0, RTT, {"buffer", "shaper"}),
        # So few leave this rate, by the law, if they come by chance; so may one a run.
        (3, RTT, {"buffer", "loss", "shaper"}),
        (1, RTT, {"buffer", "loss", "shaper"}),
        # More than the law of loss leaves: those came in bursts.
        (60, RTT, {"buffer", "shaper"}),
        (0, 10 * RTT, {"shaper"}),
        (60, 10 * RTT, {"shaper"}),
    ],
)
def test_causes_that_were_refuted_are_not_listed(make, again, waits, named):
    points = [row(make, 95, streams=1, again=again, waits=waits)]
    points += [row(make, 95 * count, streams=count, again=again, waits=waits) for count in (2, 4, 8)]
    draft = next(item for item in drafts_of(points) if item.rule == "tcp-per-flow-limit")
    words = {"buffer": "A buffer of", "loss": "Random loss", "shaper": "A shaper"}
    titles = [str(item.title) for item in draft.alternatives]
    assert {name for name, word in words.items() if any(title.startswith(word) for title in titles)} == named
    assert ("do not decide" in str(draft.limits[0])) == (len(titles) > 1)
    # Nothing that was measured is said not to have been.
    assert "not measured" not in " ".join(lines(draft))
    assert "TCP saw 20.0 ms at least" in str(draft.why[0])


CONTROLS = {"bbr": (900, 900), "htcp": (891, 60), "reno": (300, 80), "vegas": (500, 20)}


def controls(make, named):
    return [row(make, rate, congestion=name, again=again) for name, (rate, again) in named.items()]


def settled(points, **facts):
    measurements = evidence(points, LINKS, **facts)
    return next((draft for draft in tcp.findings(measurements) if draft.rule == "tcp-congestion"), None)


def test_controls_of_which_none_is_known_to_be_there_are_compared_with_each_other(make):
    draft = settled(controls(make, CONTROLS))
    assert draft.kind == DIAGNOSIS
    title = str(draft.title)
    assert "instead" not in title
    assert title.startswith("Of the congestion controls tried")
    # Equals stand together, that which sends less again first; what it is compared with is the next best.
    assert "htcp, bbr" in title
    assert "vegas has 500.0 Mbit/s: ×1.78" in str(draft.why[0])
    assert "sends least again (60, 900 in a run)" in str(draft.why[1])
    assert "reno 300.0 Mbit/s" in str(draft.why[2])
    assert "tcp_congestion_control=htcp" in draft.change


@pytest.mark.parametrize("own", ["", "cubic", "reno"])
def test_a_control_that_is_there_is_what_the_best_is_compared_with(make, own):
    facts = {"client": {"net.ipv4.tcp_congestion_control": own or "cubic"}}
    draft = settled(controls(make, {**CONTROLS, own: (300, 80)}), **facts)
    assert (draft.kind, str(draft.title)) == (
        "recommendation",
        "Let the sender use htcp: 891.0 Mbit/s instead of 300.0 Mbit/s",
    )
    # Where it is as good as the best nothing is advised.
    assert settled(controls(make, {**CONTROLS, own: (895, 80)}), **facts) is None


@pytest.mark.parametrize(("waits", "rate"), [*itertools.product((22, 88, 180), (95, 80))])
def test_a_window_with_as_much_and_less_delay_is_told(make, waits, rate):
    points = [row(make, 52, window=128 * KIB), row(make, rate, window=256 * KIB, waits=waits / 1e3)]
    points += [row(make, 95.3, waits=0.18)]
    draft = autotuning.conclude(evidence(points, LINKS))
    if rate == 95 and waits < 180:
        assert "A window of 256 KiB has as much as the kernel's own, 95.00 Mbit/s, with an RTT of" in str(draft.title)
        assert "-w 262144" in draft.change
        assert "not the 1.000 Gbit/s" in str(draft.why[2])
    else:
        assert str(draft.title).startswith("Ask for no window")


def test_streams_that_lose_much_name_fewer_that_do_not(make):
    counts = {1: (300, 0), 2: (600, 0), 4: (700, 4000), 16: (935, 90_000)}
    points = [row(make, rate, streams=count, window=MIB, again=again) for count, (rate, again) in counts.items()]
    draft = next(item for item in drafts_of(points) if item.rule == "tcp-streams")
    assert draft.value == 16
    assert draft.confidence < 0.8
    assert "Sent again at 935.0 Mbit/s: 11 %; at 300.0 Mbit/s: 0 %" in str(draft.against[0])
    assert "Open 4 streams: 700.0 Mbit/s" in str(draft.alternatives[0].title)
    clean = [row(make, rate, streams=count, window=MIB, again=0) for count, (rate, _again) in counts.items()]
    plain = streams.conclude(evidence(clean, LINKS))
    assert not [item for item in plain.alternatives if "sent again" in str(item.title)]
    assert congestion.conclude(evidence(clean, LINKS)) is None


FAR = Passed(643.21e6, "of another week")


@pytest.mark.parametrize(("name", "links"), [*itertools.product([*LOADS, *STATED], (LINKS, PathFacts(None, RTT)))])
def test_what_came_through_in_another_campaign_is_told_with_its_name(make, name, links):
    """No line has the figure alone, as if it had been measured here."""
    points = [make.ping(RTT)]
    if name in LOADS:
        points += [*loads(make, name), row(make, 60, again=0)]
    for (window, count), rate in STATED.get(name, {}).items():
        points.append(row(make, rate, window=window, streams=count, again=0))
    measurements = dataclasses.replace(evidence(points, links), elsewhere=FAR)
    for draft in conclude_all(of_ends(), measurements):
        for line in [*lines(draft), str(draft.title)]:
            is_own = draft.rule in ("path-capacity", "path-bottleneck") and line == str(draft.title)
            assert is_own or "643.2 Mbit/s" not in line or FAR.campaign in line, line
