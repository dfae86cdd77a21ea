"""The formulae of transport, against the figures of the reports and of the RFCs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench import network


@pytest.mark.parametrize(
    ("capacity_bps", "rtt_s", "size"),
    [
        (1e9, 0.0048, 600_000),
        (1_000_000_000, 0.01, 1_250_000),
        (1e9, 0.002, 250_000),
        (457e6, 0.1355, 7_740_438),
        (1e9, 0.0, 0),
        (None, 0.0048, None),
        (1e9, None, None),
    ],
)
def test_the_bdp_is_capacity_times_rtt(capacity_bps, rtt_s, size):
    found = network.bdp_bytes(capacity_bps, rtt_s)
    assert found == size
    assert found is None or type(found) is int


@pytest.mark.parametrize(
    ("mtu", "timestamps", "mbit_s"), [(1500, True, 941.5), (9000, True, 990.0), (1500, False, 949.3)]
)
def test_tcp_over_gigabit_ethernet_reaches_the_known_rates(mtu, timestamps, mbit_s):
    ceiling = network.tcp_ceiling_bps(1e9, mtu, timestamps=timestamps)
    assert ceiling / 1e6 == pytest.approx(mbit_s, abs=0.05)
    assert ceiling == 1e9 * network.tcp_efficiency(mtu, timestamps=timestamps)


def test_udp_over_457_mbit_reaches_the_measured_payload():
    assert network.udp_ceiling_bps(457e6, 1500) / 1e6 == pytest.approx(437, abs=0.5)


def test_jumbo_frames_gain_five_percent():
    assert network.tcp_efficiency(9000) / network.tcp_efficiency(1500) - 1 == pytest.approx(0.052, abs=0.0005)


@pytest.mark.parametrize("ceiling", [network.tcp_ceiling_bps, network.udp_ceiling_bps])
def test_a_ceiling_of_the_unknown_is_unknown(ceiling):
    assert ceiling(None, 1500) is None
    assert ceiling(1e9, None) is None


@pytest.mark.parametrize("efficiency", [network.tcp_efficiency, network.udp_efficiency])
def test_it_refuses_an_mtu_that_ipv4_does_not_have(efficiency):
    assert 0 < efficiency(68) < 1
    with pytest.raises(ValueError, match="an MTU of 67 bytes is less than the 68"):
        efficiency(67)


@pytest.mark.parametrize(
    ("window", "rtt_s", "streams", "mbit_s"),
    [
        (65_535, 0.0048, 1, 109.2),
        (65_535, 0.0048, 10, 1092.2),
        (98_304, 0.0048, 1, 163.8),
        (170_000, 0.1355, 1, 10.04),
    ],
)
def test_a_window_limits_the_rate(window, rtt_s, streams, mbit_s):
    assert network.window_limited_bps(window, rtt_s, streams) / 1e6 == pytest.approx(mbit_s, abs=0.05)


@pytest.mark.parametrize(("window", "rtt_s"), [(None, 0.01), (65_535, None), (65_535, 0.0), (65_535, 5e-324)])
def test_a_window_limits_nothing_that_is_known_without_rtt_or_window(window, rtt_s):
    assert network.window_limited_bps(window, rtt_s) is None


@given(st.integers(10**6, 10**11), st.floats(1e-3, 1))
def test_a_window_of_one_bdp_just_carries_the_capacity(capacity_bps, rtt_s):
    window = network.bdp_bytes(capacity_bps, rtt_s)
    assert network.window_limited_bps(window, rtt_s) == pytest.approx(capacity_bps, rel=0.005)


@given(st.integers(68, 65_535))
def test_efficiency_grows_with_the_mtu_and_udp_has_the_smaller_header(mtu):
    assert (
        network.tcp_efficiency(mtu) < network.tcp_efficiency(mtu, timestamps=False) < network.udp_efficiency(mtu) < 1
    )
    assert network.tcp_efficiency(mtu) < network.tcp_efficiency(mtu + 1)
