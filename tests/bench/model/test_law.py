"""The core law: the least term is the limit."""

import pytest

from apps.bench import model


def test_the_window_limits_the_untuned_kisti_pusan_line():
    found = model.terms(capacity_bps=1e9, mtu=9000, rtt_s=0.0048, window_bytes=98_304)
    assert [term.name for term in found] == [model.WINDOW, model.CAPACITY]
    # 131,072 B of Linux 2.4, three quarters of it as window; 160.74 Mbit/s were measured.
    assert found[0].rate_bps == pytest.approx(163.84e6)
    assert model.gain(found) == pytest.approx(6.04, rel=1e-2)


def test_the_path_limits_it_with_a_larger_window():
    found = model.terms(capacity_bps=1e9, mtu=9000, rtt_s=0.0048, window_bytes=1_200_000)
    assert found[0].name == model.CAPACITY
    assert found[0].rate_bps == pytest.approx(990e6, rel=1e-3)


@pytest.mark.parametrize(("streams", "limit"), [(1, model.LOSS), (10, model.CAPACITY)])
def test_streams_multiply_what_loss_leaves(streams, limit):
    found = model.terms(capacity_bps=457e6, rtt_s=0.1355, loss=1e-6, mss=1448, streams=streams)
    assert found[0].name == limit


def test_loss_of_one_in_a_thousand_leaves_what_was_measured():
    # Reno on 1 Gbit/s, 4.8 ms: 84 to 90 Mbit/s (recorded).
    assert model.mathis_bps(1448, 0.0048, 1e-3) == pytest.approx(93e6, rel=0.01)
    assert model.mathis_loss(93.47e6, 1448, 0.0048) == pytest.approx(1e-3, rel=0.01)


def test_ten_megabits_at_caltech_would_be_a_loss_of_one_in_ten_thousand():
    assert model.mathis_loss(10e6, 1448, 0.1355) == pytest.approx(1.1e-4, rel=0.02)


def test_disks_and_flows_limit_too():
    assert model.terms(capacity_bps=1e9, disk_bytes_per_s=30e6)[0].name == model.DISK
    assert model.terms(capacity_bps=457e6, flow_bps=9e6, streams=10)[0] == model.Term(model.FLOW, 90e6)


def test_what_is_unknown_is_no_term():
    assert model.terms() == ()
    assert model.terms(rtt_s=0.0, window_bytes=65536, loss=0.0, mss=1448) == ()
    assert model.gain(model.terms(capacity_bps=1e9)) is None


@pytest.mark.parametrize(("streams", "share"), [(1, 0.75), (2, 0.857), (4, 0.923), (8, 0.96)])
def test_few_streams_fill_most_of_a_path_with_a_shallow_queue(streams, share):
    assert model.shallow_share(streams) == pytest.approx(share, abs=1e-3)


def test_synchronous_records_wait_once_each():
    # GlusterFS over 4.8 ms, direct reads (recorded): 64 KiB 11.1, 4 MiB 99.2 MB/s.
    assert model.synchronous_bytes_per_s(65536, 0.0048, 125e6) == pytest.approx(12.3e6, rel=0.01)
    assert model.synchronous_bytes_per_s(65536, 0.0048) == pytest.approx(13.65e6, rel=0.01)
