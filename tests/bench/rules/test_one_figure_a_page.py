"""On the page of one path all findings go by one RTT and one capacity, whatever measured them."""

import pytest

from apps.bench import rules
from apps.bench.rules import folding, runner
from apps.bench.rules.base import PathFacts
from tests.bench.rules.cases import Maker, evidence
from tests.bench.rules.test_said_of_paths import LINKS, LOADS, RTT, WIDE, loads, row


@pytest.mark.parametrize("links", [LINKS, WIDE, PathFacts(None, RTT)])
@pytest.mark.parametrize("name", LOADS)
@pytest.mark.parametrize("rate", [100, 935])
def test_datagrams_and_tcp_together_leave_one_rtt_and_one_capacity(name, links, rate):
    make = Maker()
    tcp = [row(make, rate), row(make, min(2 * rate, 938), window=2**23), row(make, rate, streams=4)]
    measured = evidence([make.ping(RTT, RTT), *loads(make, name), *tcp], links)
    drafts = folding.fold_ends(runner.conclude_all(rules.of_ends(), measured), measured)
    reasons = [reason for draft in drafts for item in (draft, *draft.parts) for reason in item.why]
    figures = {
        word: {str(reason) for reason in reasons if reason.msgid.startswith(word)} for word in ("RTT ", "Capacity")
    }
    assert figures["RTT "]
    assert all(len(texts) <= 1 for texts in figures.values()), figures
