"""The path's own RTT: measured, given, or refuted by what TCP saw where no queue of its own stood on the path."""

import pytest

from apps.bench.rules.base import Evidence, PathFacts
from apps.bench.rules.tcp.round_trip import read_rtt
from tests.bench.rules.cases import Maker

GIVEN = PathFacts(1_000_000_000, 0.020, 1500)


@pytest.mark.parametrize(
    ("rates", "tcp_rtt", "path_rtt"),
    [
        # Windows that held the rate low: the queue is empty, and what TCP saw is the path.
        ((6e6, 100e6, 940e6), 0.080, 0.080),
        ((6e6, 100e6, 940e6), 0.021, 0.020),
        # All filled the path: a queue may stand there, and what is described holds.
        ((930e6, 940e6, 940e6), 0.080, 0.020),
    ],
)
def test_what_is_described_holds_unless_idle_runs_refute_it(rates, tcp_rtt, path_rtt) -> None:
    make = Maker()
    points = tuple(make.tcp([rate] * 3, window=65536 * (place + 1), rtt=tcp_rtt) for place, rate in enumerate(rates))
    rtt = read_rtt(Evidence(points, GIVEN))
    assert rtt.value == pytest.approx(path_rtt)
    assert ("which no run came near" in str(rtt.source)) == (path_rtt > 0.05)


def test_a_probe_decides() -> None:
    make = Maker()
    points = (make.tcp([6e6] * 3, window=65536, rtt=0.080), make.ping(0.0205, 0.0201))
    assert read_rtt(Evidence(points, GIVEN)).value == pytest.approx(0.0201)
