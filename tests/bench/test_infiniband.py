"""What a description says an InfiniBand port carries."""

import pytest

from apps.bench.network.infiniband import port_rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("InfiniBand 4X DDR", 2.0e9),
        ("InfiniBand 4X QDR", 4.0e9),
        ("Infiniband qdr", 4.0e9),
        ("IB x12 SDR", 3.0e9),
        ("InfiniBand FDR (56 Gbit/s)", 6.818e9),
        ("InfiniBand FDR10", 5.0e9),
        ("InfiniBand EDR", 12.5e9),
        ("InfiniBand 4X NDR", 50e9),
        ("InfiniBand", None),
        ("QDR", None),
        ("10 Gigabit Ethernet", None),
        ("", None),
    ],
)
def test_a_ports_rate(text, rate):
    assert port_rate(text) == (None if rate is None else pytest.approx(rate, rel=1e-3))
