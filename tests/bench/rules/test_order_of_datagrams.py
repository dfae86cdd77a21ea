"""What is sent again beside datagrams out of order is taken for loss by no finding, and nothing is paced for it."""

import itertools
import re

import pytest

from apps.bench import rules
from apps.bench.rules import runner
from apps.bench.rules.base import LinkFacts, PathFacts
from tests.bench.rules.cases import TCP, UDP, Maker, evidence

RTT = 0.02
LINKS = (LinkFacts("alpha-A", 1e10, 2e-5, 1500), LinkFacts("WAN", 1e9, RTT, 1500))
LINE = PathFacts(1e9, RTT, 1500, LINKS, "WAN")
# What a finding says of segments as lost, and not only as sent again.
OF_LOSS = re.compile(r"\b(loss|lost|loses?|sent again)\b")
COURSES = {
    "streams": lambda rate: [{"streams": count, "rate": min(700.0, rate * count)} for count in (1, 2, 4, 8)],
    "windows": lambda rate: [
        {"window": window, "rate": min(rate, 0.95 * window * 8 / RTT / 1e6) if window else rate}
        for window in (0, 65536, 262144, 1048576, 4194304)
    ],
    # A window that is bounded has more than the kernel's own.
    "bounded": lambda rate: [
        {"window": 0, "rate": rate},
        {"window": 524288, "rate": 2 * rate},
        {"window": 8388608, "rate": 0.8 * rate},
    ],
    "one": lambda rate: [{"rate": rate}],
}


def drafts(course, rate, again, *, disorder, is_counted=True, is_lost=False):
    """Return all findings of a path whose loads came with so many of 100 datagrams out of order."""
    make = Maker()
    points = [make.ping(RTT, RTT, RTT)]
    for load in (100e6, 200e6, 400e6, 600e6, 800e6):
        sent = load * 10 / 8 / 1448
        loss = 0.01 if is_lost else 0.0
        figures = {"goodput": load * (1 - loss), "offered_load": load, "loss": loss, "jitter": 3e-5}
        figures |= {"out_of_order": float(round(sent * disorder / 100))} if is_counted else {}
        points.append(make.point(UDP, {"rate": load, "duration": 10, "length": 1448}, *[figures] * 3))
    for setting in COURSES[course](rate):
        own = 1e6 * setting["rate"]
        count = setting.get("streams", 1)
        runs = [
            {
                "goodput": own * noise,
                "retransmits": float(round(own * noise * 10 / 8 / 1448 * again / 100)),
                "min_rtt": RTT,
                "mean_rtt": 1.02 * RTT,
                "window_observed": 2.2 * own * RTT / 8 / count,
                "cpu_local": 20.0,
                "cpu_remote": 15.0,
            }
            for noise in (0.99, 1.0, 1.01)
        ]
        asked = {"window": setting.get("window", 0), "streams": count, "duration": 10}
        points.append(make.point(TCP, asked, *runs))
    return runner.conclude_all(rules.of_ends(), evidence(points, LINE))


def texts(draft):
    """Return what a finding says, without how its other explanations are to be tested."""
    alternatives = [item.title for item in draft.alternatives]
    return [str(item) for item in (draft.title, *draft.why, *draft.against, *alternatives)]


CASES = [*itertools.product(COURSES, (20, 95, 250), (0.02, 0.5, 5, 25), (0.5, 8))]


@pytest.mark.parametrize(("course", "rate", "again", "disorder"), CASES)
def test_no_finding_takes_for_loss_what_may_have_come_late(course, rate, again, disorder):
    for draft in drafts(course, rate, again, disorder=disorder):
        if not draft.rule.startswith("tcp-") or 5 * disorder < again:
            continue
        sentences = texts(draft)
        assert draft.rule != "tcp-pacing"
        assert not str(draft.title).startswith("Loss is the limit")
        assert not any(OF_LOSS.search(text) for text in sentences) or any(
            "out of order" in text for text in sentences
        ), sentences
        # What may be late leaves no more to nothing.
        assert not any("leaves no more" in text for text in sentences if "may have" not in text), sentences


@pytest.mark.parametrize(
    ("disorder", "is_counted", "is_lost", "is_advised"),
    [
        (0, True, False, True),
        (0.1, True, False, True),
        (1, True, False, False),
        (0, False, False, False),
        (0, True, True, False),
    ],
)
def test_pacing_is_advised_only_where_datagrams_came_whole_and_in_order(disorder, is_counted, is_lost, is_advised):
    findings = drafts("streams", 95, 2, disorder=disorder, is_counted=is_counted, is_lost=is_lost)
    assert ("tcp-pacing" in {draft.rule for draft in findings}) is is_advised
    assert not any("out of order" in text for draft in findings for text in texts(draft)) or disorder == 1


def test_reordering_is_a_cause_of_a_limit_on_each_flow_with_what_decides():
    flow = next(draft for draft in drafts("streams", 95, 25, disorder=8) if draft.rule == "tcp-per-flow-limit")
    cause = next(item for item in flow.alternatives if str(item.title).startswith("Segments come late"))
    assert "8 % of datagrams" in str(cause.title)
    assert any("tcp_reordering" in name for name in cause.proposal.factors)
