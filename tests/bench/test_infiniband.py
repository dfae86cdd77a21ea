"""What a description says an InfiniBand port carries."""

import pytest

from apps.bench.network.infiniband import LANES, port_rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("InfiniBand 4X DDR", 2.0e9),
        ("InfiniBand 4X QDR", 4.0e9),
        ("Infiniband qdr", 4.0e9),
        ("IB x12 SDR", 3.0e9),
        ("InfiniBand FDR (56 Gbit/s)", 6.818e9),
        ("InfiniBand QDR, 40 Gb/s", 4.0e9),
        ("InfiniBand FDR10", 5.0e9),
        ("InfiniBand EDR", 12.5e9),
        ("InfiniBand 4X NDR", 50e9),
        ("InfiniBand EDR 4x", 12.5e9),
        ("InfiniBand", None),
        ("QDR", None),
        ("10 Gigabit Ethernet", None),
        ("", None),
    ],
)
def test_a_ports_rate(text, rate):
    assert port_rate(text) == (None if rate is None else pytest.approx(rate, rel=1e-3))


# What people write around a kind of port, and how many lanes of it that is: None where it may be several ports.
LANES_OF = {
    "InfiniBand {}": 4,
    "InfiniBand {} 4X": 4,
    "4X {} InfiniBand": 4,
    "InfiniBand 12x {}": 12,
    "{} InfiniBand, 1X {}": 1,
    "InfiniBand {} (ConnectX-3, PCIe 3.0 x8)": 4,
    "InfiniBand {}, PCIe Gen3 x16": 4,
    "InfiniBand {}, PCI Express 4.0 16x": 4,
    "InfiniBand {} on x8 PCIe": 4,
    "InfiniBand {}, Gen4 x16": 4,
    "InfiniBand 4X {} (PCIe x8)": 4,
    "single-port InfiniBand {}": 4,
    "InfiniBand {} (double data rate)": 4,
    "ConnectX-4 IB {}": 4,
    "ConnectX-4 {} IB, one port": 4,
    "InfiniBand {} and 10 Gigabit Ethernet": 4,
    "2x InfiniBand {}": None,
    "2 x InfiniBand {}": None,
    "2× InfiniBand {}": None,
    "4x InfiniBand {}": None,
    "2x {} InfiniBand": None,
    "8x {} InfiniBand": None,
    "InfiniBand {} x2": None,
    "InfiniBand {} (x2)": None,
    "dual-rail InfiniBand {}": None,
    "InfiniBand {}, 2 rails": None,
    "dual-rail InfiniBand {}, 2 ports": None,
    "dual-port InfiniBand {}": None,
    "InfiniBand {} 2-port": None,
    "InfiniBand {}, two HCAs": None,
    "Two InfiniBand {} adapters": None,
    "2 InfiniBand {}": None,
    "multi-rail IB {}": None,
    "InfiniBand {} or Omni-Path x4": None,
    "InfiniBand 4X {} 2x": None,
    "InfiniBand {} at 1 Gbit/s": None,
}


@pytest.mark.parametrize("text", LANES_OF)
def test_lanes_stand_beside_the_kind_and_several_ports_are_not_known(text):
    lanes = LANES_OF[text]
    for kind in LANES:
        for written in (kind, kind.lower()):
            rate = port_rate(text.replace("{}", written))
            assert rate == (None if lanes is None else pytest.approx(lanes * LANES[kind] * 1e9 / 8)), written


@pytest.mark.parametrize(
    "text",
    [
        "InfiniBand QDR / FDR",
        "InfiniBand EDR, 200 Gbit/s",
        "InfiniBand FDR10 (56 Gb/s)",
        "InfiniBand HDR100",
        "InfiniBand HDR-100",
        "InfiniBand HDR 100",
        "InfiniBand FDR-10",
    ],
)
def test_what_contradicts_itself_is_not_known(text):
    assert port_rate(text) is None
