"""Published cases of TCP and its paths: reached for the right reason, and not without or against their evidence."""

import dataclasses
import json

import pytest

from apps.bench.rules import path, tcp
from apps.bench.rules.base import (
    ABOUT,
    BELOW,
    DIAGNOSIS,
    NO_CHANGE,
    RECOMMENDATION,
    Evidence,
    LinkFacts,
    PathFacts,
    Point,
    Trend,
)
from tests.bench.rules.cases import KIB, UDP, Maker, tools
from tests.bench.tools import recordings

CASES = {
    case["id"]: case for case in json.loads((recordings.DATA / "published" / "published.json").read_text())["cases"]
}
LINKS = tuple(
    LinkFacts(name, rate)
    for name, rate in (
        ("KNU - KOREN Busan", 1e9),
        ("KOREN Busan - Genkai XP", 1e9),
        ("Genkai XP - Tokyo XP", 622e6),
        ("Tokyo XP - Los Angeles", 2.5e9),
        ("Los Angeles - Caltech", 1e9),
    )
)
CALTECH = PathFacts(622e6, 0.1355, None, LINKS, "Genkai XP - Tokyo XP")
KOREN = PathFacts(1e9, 0.002, None)


@pytest.fixture
def make():
    return Maker()


def inputs_of(name):
    return CASES[name]["given"]


def by_rule(evidence, family=tcp):
    return {draft.rule: draft for draft in family.findings(evidence)}


def reasons_of(draft):
    return " ".join(str(line) for line in draft.why)


def tcp_point(make, rate, window=0, streams=1, statistic=ABOUT):
    """Return a printed figure: only the rate is known of it."""
    tool = tools.get("iperf2")
    parameters = {"window": window, "streams": streams}
    return dataclasses.replace(make.point(tool, parameters, {"goodput": rate}), statistic=statistic)


@pytest.mark.parametrize("name", ["bdp-kisti-pnu", "bdp-10ms", "bdp-knu-koren", "bdp-knu-caltech"])
def test_bdp_cases_give_the_products_and_the_window(make, name):
    facts, expected = inputs_of(name), CASES[name]["expect"]
    evidence = Evidence((make.ping(facts["rtt_s"]),), PathFacts(facts["bit_per_s"], facts["rtt_s"]))
    drafts = by_rule(evidence)
    bdp = drafts["tcp-bdp"]
    assert bdp.value == expected["bdp_bytes"]
    assert bdp.high == expected.get("window_bytes", 2 * expected["bdp_bytes"])
    # It is where a sweep starts, not where it ends: four times it is tried as well.
    assert "It is where a sweep of windows starts" in " ".join(map(str, bdp.limits))
    assert len(bdp.proposals[0].factors["window"].split(",")) == 5
    for key in expected.get("sysctl", ()):
        assert f'"{key}=' in drafts["tcp-sysctl"].change
    assert ("window scaling" in reasons_of(bdp)) == (bdp.high > 65_535)


def test_bdp_cases_are_silent_without_the_rtt_or_against_the_links(make):
    assert by_rule(Evidence((), PathFacts(1e9, 0.0048))) == {}
    assert by_rule(Evidence((tcp_point(make, 1e8),), PathFacts(1e9, None))) == {}
    faster = (make.ping(0.0048), tcp_point(make, 1.2e9))
    assert "tcp-bdp" not in by_rule(Evidence(faster, PathFacts(1e9, 0.0048)))


def test_the_bdp_to_caltech_is_that_of_what_dispersion_measured(make):
    pathrate = make.point(tools.get("pathrate"), {}, {"capacity_low": 450e6, "capacity_high": 457e6})
    drafts = by_rule(Evidence((make.ping(0.1355), pathrate), CALTECH))
    assert drafts["tcp-bdp"].value == 7_740_438
    assert "packet dispersion" in reasons_of(drafts["tcp-bdp"])
    alone = by_rule(Evidence((make.ping(0.1355),), CALTECH))
    assert alone["tcp-bdp"].value == 10_535_125
    assert alone["tcp-bdp"].confidence < drafts["tcp-bdp"].confidence


def window_limited(make, *, larger=1e9, untuned=160.74e6):
    points = [make.ping(0.0048), tcp_point(make, untuned), tcp_point(make, larger, KIB * KIB)]
    return by_rule(Evidence(tuple(points), PathFacts(1e9, 0.0048, 9000)))


def test_window_limited_case(make):
    runs = inputs_of("window-limited")["measured"]
    draft = window_limited(make, untuned=runs[0]["bit_per_s"], larger=runs[1]["bit_per_s"])["tcp-limit"]
    assert (draft.kind, draft.subject, draft.value) == (DIAGNOSIS, "window", 96_444)
    assert "98,304 B" in reasons_of(draft)
    assert "from there the path is the limit" in reasons_of(draft)
    assert [str(item.title) for item in draft.alternatives] == [
        "The kernel's own window loses more than one that is bounded: to a policer, or a short queue."
    ]


def test_window_limited_case_contradicted_or_without_its_second_figure(make):
    assert "tcp-limit" not in window_limited(make, larger=165e6)
    assert window_limited(make, untuned=985e6)["tcp-limit"].subject == "path"
    points = (make.ping(0.0048), tcp_point(make, 160.74e6))
    assert "tcp-limit" not in by_rule(Evidence(points, PathFacts(1e9, 0.0048, 9000)))


def knu_koren(make, single, five):
    points = [make.ping(0.002), tcp_point(make, single, KIB * KIB)]
    points += [tcp_point(make, five, KIB * KIB, 5)] if five else []
    return by_rule(Evidence(tuple(points), KOREN))


def test_knu_koren_streams_case(make):
    facts = inputs_of("knu-koren-streams")
    draft = knu_koren(make, facts["single_stream_bit_per_s"], facts["five_streams_sum_bit_per_s"])["tcp-streams"]
    assert (draft.kind, draft.value) == (NO_CHANGE, 1)
    assert str(draft.title) == "One stream is enough with a window of 1 MiB: 920.0 Mbit/s"
    assert "of what TCP can have" in reasons_of(draft)


def test_knu_koren_streams_case_contradicted_or_without_the_five(make):
    assert knu_koren(make, 500e6, 906e6)["tcp-streams"].value == 5
    assert "tcp-streams" not in knu_koren(make, 920e6, None)
    assert "tcp-streams" not in knu_koren(make, 200e6, 500e6)


def caltech_udp(make, losses, pathrate=(450e6, 457e6), links=CALTECH):
    loads = [
        make.point(UDP, {"rate": round(load)}, {"goodput": load * (1 - loss), "loss": loss, "jitter": 0.0})
        for load, loss in losses.items()
    ]
    tool = tools.get("pathrate")
    probes = (
        [make.point(tool, {}, dict(zip(("capacity_low", "capacity_high"), pathrate, strict=True)))]
        if pathrate
        else []
    )
    return Evidence((make.ping(0.1355), *loads, *probes), links)


def test_knu_caltech_udp_case(make):
    facts = inputs_of("knu-caltech-udp")
    losses = {float(load): loss for load, loss in facts["loss_at_bit_per_s"].items()}
    drafts = by_rule(caltech_udp(make, losses, tuple(facts["pathrate_bit_per_s"])), path)
    draft = drafts["path-capacity"]
    assert (draft.low, draft.high) == (400e6, 457e6)
    assert "UDP: of loads up to 400.0 Mbit/s no more than 0.5 % was lost" in reasons_of(draft)
    assert "Packet dispersion: 450.0 Mbit/s … 457.0 Mbit/s" in reasons_of(draft)
    assert "73 % of it" in reasons_of(draft)
    # 30 % and 80 % are far more than a full link of 400 Mbit/s loses.
    assert "fragments: at 450.0 Mbit/s 2.7 times a full link's loss" in str(draft.alternatives[0].title)
    assert len(draft.alternatives) == 3
    assert all(item.proposal for item in draft.alternatives)
    link = drafts["path-bottleneck"]
    assert link.subject == "Genkai XP - Tokyo XP"
    assert "as described" in str(link.title)
    assert "only 457.0 Mbit/s can be had" in str(link.title)


def test_knu_caltech_udp_case_without_evidence_or_contradicted(make):
    assert path.findings(Evidence((make.ping(0.1355),), CALTECH)) == []
    # Loss at every load finds no capacity; no loss at any neither.
    assert "path-capacity" not in by_rule(caltech_udp(make, {400e6: 0.3, 450e6: 0.5}, None), path)
    assert "path-capacity" not in by_rule(caltech_udp(make, {400e6: 0.0, 450e6: 0.0}, None), path)
    higher = by_rule(caltech_udp(make, {400e6: 0.0, 620e6: 0.0, 800e6: 0.25}, None), path)
    assert higher["path-capacity"].low == pytest.approx(620e6)
    assert "agree" in str(higher["path-bottleneck"].title)
    # A link that is simply full needs no other explanation.
    assert higher["path-capacity"].alternatives == ()


def caltech_streams(make, *, single=10e6, window=8_000_000, trend=True, statistic=BELOW, **more):
    points = [make.ping(0.1355)]
    points += [dataclasses.replace(tcp_point(make, single, window, statistic=statistic), **more)] if single else []
    trends = (Trend("iperf2", "goodput", "streams", "saturates", 50.0),) if trend else ()
    return Evidence(tuple(points), CALTECH, trends=trends)


def test_knu_caltech_streams_case(make):
    drafts = by_rule(caltech_streams(make))
    streams = drafts["tcp-streams"]
    assert (streams.kind, streams.value, streams.change) == (RECOMMENDATION, 50, "iperf3 -c SERVER -P 50\n")
    assert "take rate from other users" in " ".join(map(str, streams.limits))
    limit = drafts["tcp-per-flow-limit"]
    assert limit.kind == DIAGNOSIS
    assert "less than 10.00 Mbit/s" in reasons_of(limit)
    assert "Its window of 7.629 MiB would allow 472.3 Mbit/s." in reasons_of(limit)
    assert [str(item.title) for item in limit.alternatives] == [
        "A buffer of about 169,375 B at the far end: tcp_rmem's limit in Linux 2.4 was 174,760 B.",
        "Random loss of 1.1e-04: by Mathis's law it leaves this rate.",
        "A shaper or policer on the way that gives each flow so much (QoS), or a member of a bundle of links that"
        " carries the whole flow (LACP, ECMP).",
        "Others' flows fill the link, of which each flow has its share.",
    ]
    assert all(item.proposal and str(item.test) for item in limit.alternatives)


def test_knu_caltech_streams_case_without_its_trend(make):
    drafts = by_rule(caltech_streams(make, trend=False))
    assert not {"tcp-streams", "tcp-per-flow-limit"} & drafts.keys()


def test_knu_caltech_streams_case_without_its_single_stream(make):
    drafts = by_rule(caltech_streams(make, single=None))
    assert drafts["tcp-streams"].value == 50
    assert "tcp-per-flow-limit" not in drafts


@pytest.mark.parametrize(
    "changed",
    [
        {"single": 400e6, "statistic": ABOUT},
        # A window of 170 KB is the rate: nothing else limits.
        {"window": 170_000},
        {"observed": {"tcp": {"receiver_window_limited": 0.9, "send_buffer_limited": 0.0}}},
    ],
)
def test_knu_caltech_streams_case_contradicted(make, changed):
    assert "tcp-per-flow-limit" not in by_rule(caltech_streams(make, **changed))


def test_streams_that_are_flat_from_one_on_contradict_the_fifty(make):
    evidence = caltech_streams(make)
    flat = dataclasses.replace(evidence, trends=(Trend("iperf2", "goodput", "streams", "flat"),))
    drafts = by_rule(flat)
    assert (drafts["tcp-streams"].kind, drafts["tcp-streams"].value) == (NO_CHANGE, 1)
    assert "tcp-per-flow-limit" not in drafts
    rising = dataclasses.replace(evidence, trends=(Trend("iperf2", "goodput", "streams", "rises"),))
    assert "tcp-streams" not in by_rule(rising)


@pytest.mark.parametrize(
    ("retransmits", "first"), [(0.0, "A buffer of about"), (12.0, "A buffer of about"), (None, "A buffer of about")]
)
def test_what_was_counted_ranks_the_causes(make, retransmits, first):
    evidence = caltech_streams(make)
    if retransmits is not None:
        slow, other = sorted(evidence.points, key=lambda point: not point.values("goodput"))
        metrics = {**slow.metrics, "retransmits": dict.fromkeys(slow.metrics["goodput"], retransmits)}
        evidence = dataclasses.replace(evidence, points=(other, dataclasses.replace(slow, metrics=metrics)))
    alternatives = by_rule(evidence)["tcp-per-flow-limit"].alternatives
    assert str(alternatives[0].title).startswith(first)
    if retransmits == 0.0:
        assert not [item for item in alternatives if str(item.title).startswith("Random loss")]


def test_a_far_end_that_allows_large_windows_speaks_against_its_buffer(make):
    facts = {"server": {"sysctls": {"net.ipv4.tcp_rmem": "4096 131072 67108864"}}}
    evidence = dataclasses.replace(caltech_streams(make), facts=facts)
    titles = [str(item.title) for item in by_rule(evidence)["tcp-per-flow-limit"].alternatives]
    assert titles
    assert not [title for title in titles if title.startswith("A buffer")]


def test_a_point_that_only_bounds_a_rate_is_no_rate_of_a_sweep(make):
    bound = tcp_point(make, 10e6, statistic=BELOW)
    metrics = {"goodput": {99: 5e6}, "window_observed": {99: 84_688.0}}
    evidence = Evidence((make.ping(0.1355), bound, Point(bound.parameters, metrics)), CALTECH)
    assert by_rule(evidence)["tcp-bdp"].present == 5e6
