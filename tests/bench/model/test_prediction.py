"""Predictions for settings that were not measured, checked against those that were."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.bench import model
from apps.bench.model import NotPredictable, Observation
from tests.bench.rules.cases import KIB, Maker

CEILING = {"pnu": 990e6, "cal": 437e6, "knu": 941e6}
KINDS = {"window": "size", "streams": "integer", "block_size": "size", "congestion": "text", "clients": "integer"}


def recorded(*folders):
    """Return the observations of recorded sweeps with CUBIC."""
    return [
        Observation({name: point.parameters[name] for name in ("streams", "window")}, rate, (trial,))
        for folder in folders
        for point in Maker().recorded(folder)
        if not point.parameters["congestion"]
        for trial, rate in point.metrics["goodput"].items()
    ]


def split(observations, window, streams=1):
    """Return the rate of a setting and the observations without it."""
    setting = {"streams": streams, "window": window}
    rates = [item.rate for item in observations if item.setting == setting]
    return sum(rates) / len(rates), [item for item in observations if item.setting != setting]


@pytest.mark.parametrize(
    ("folders", "window", "streams"),
    [
        (("winsweep_pnu",), 128 * KIB, 1),
        (("winsweep_pnu",), 512 * KIB, 1),
        (("winsweep_pnu",), 2048 * KIB, 1),
        (("winsweep_pnu", "streamsweep_pnu"), 64 * KIB, 4),
        (("winsweep_pnu", "streamsweep_pnu"), 1200 * KIB, 8),
        (("winsweep_knu",), 128 * KIB, 1),
        (("winsweep_cal",), 1024 * KIB, 1),
        (("winsweep_cal",), 4096 * KIB, 1),
        (("streamsweep_cal_w220k",), 0, 30),
        (("streamsweep_cal_w220k",), 0, 70),
    ],
)
def test_a_recorded_setting_is_predicted_from_the_others_within_fifteen_per_cent(folders, window, streams):
    measured, rest = split(recorded(*folders), window, streams)
    calibrated = model.calibrate_transport(rest, CEILING[folders[0].split("_")[1]])
    predicted = calibrated.predict({"streams": streams, "window": window})
    assert predicted.value == pytest.approx(measured, rel=0.15)
    # A measured rate may lie a trifle above what the frames leave: clocks differ.
    assert predicted.low <= measured <= 1.001 * predicted.high
    assert predicted.beyond == ()


def test_the_stated_error_is_that_of_settings_left_out():
    calibrated = model.calibrate_transport(recorded("winsweep_cal"), CEILING["cal"])
    assert 0.02 <= calibrated.error < 0.10
    assert len(calibrated.trials) == 8


def test_the_limit_is_named_on_either_side_of_the_knee():
    calibrated = model.calibrate_transport(recorded("winsweep_pnu"), CEILING["pnu"])
    assert calibrated.predict({"streams": 1, "window": 200 * KIB}).limit == model.WINDOW
    assert calibrated.predict({"streams": 1, "window": 3072 * KIB}).limit == model.CAPACITY


def test_beyond_the_measured_range_is_said_and_less_sure():
    calibrated = model.calibrate_transport(recorded("winsweep_pnu"), CEILING["pnu"])
    inside = calibrated.predict({"streams": 1, "window": 300 * KIB})
    outside = calibrated.predict({"streams": 16, "window": 32 * KIB})
    assert inside.beyond == ()
    assert outside.beyond == ("streams",)
    assert outside.value - outside.low > 0
    assert outside.high <= 1.001 * CEILING["pnu"]


def test_beyond_the_last_count_it_may_stay_or_go_on_as_it_grew():
    growing = model.calibrate_transport(
        [Observation({"streams": n, "window": 0}, 100e6 * min(n, 2) + 90e6 * max(0, n - 2)) for n in (1, 2, 4)]
    )
    answer = growing.predict({"streams": 8, "window": 0})
    assert answer.low <= 380e6
    assert answer.high >= 380e6 * 1.8
    # A last step that is a little short of the double may be scatter: the next may be the double all the same.
    short = model.calibrate_transport(
        [Observation({"streams": n, "window": 0}, rate) for n, rate in ((2, 59e6), (4, 122e6), (8, 214e6))]
    )
    assert short.predict({"streams": 16, "window": 0}).high >= 428e6
    level = model.calibrate_transport(
        [Observation({"streams": n, "window": 0}, 100e6 * min(n, 4)) for n in (1, 2, 4, 8, 16)]
    )
    assert level.predict({"streams": 32, "window": 0}).high < 500e6


@pytest.mark.parametrize(("window", "streams"), [(4096 * KIB, 1), (1024 * KIB, 2), (1024 * KIB, 4)])
def test_more_data_under_way_than_was_measured_may_overflow_a_queue(window, streams):
    rates = {(64 * KIB, 1): 100e6, (256 * KIB, 1): 400e6, (1024 * KIB, 1): 930e6, (64 * KIB, 4): 398e6}
    measured = [Observation({"streams": n, "window": size}, rate) for (size, n), rate in rates.items()]
    calibrated = model.calibrate_transport(measured, CEILING["knu"])
    # Reno's share of a path whose queue holds nothing: three quarters for one stream.
    assert calibrated.predict({"streams": streams, "window": window}).low <= 930e6 * (1 - 1 / (1 + 3 * streams))
    assert calibrated.predict({"streams": 1, "window": 512 * KIB}).low >= 370e6


def test_between_two_settings_the_rate_lies_between_theirs():
    calibrated = model.calibrate_transport(
        [
            Observation({"streams": 1, "window": n * KIB}, rate)
            for n, rate in ((64, 100e6), (128, 200e6), (1024, 900e6))
        ]
    )
    answer = calibrated.predict({"streams": 1, "window": 512 * KIB})
    assert answer.low <= 200e6
    assert answer.high >= 900e6


def test_a_prediction_is_no_surer_than_the_settings_on_either_side():
    """One outlier of five pulls a mean down by as much as its interval tells."""
    kinds = {"clients": "integer"}
    sure = [({"clients": n}, 94e6, (n,)) for n in (1, 2, 3, 4)]
    pulled = [({"clients": 6}, 79e6, (6,), (60e6, 95e6)), ({"clients": 8}, 69e6, (8,), (48e6, 95e6))]
    plain = model.calibrate_any([*sure, *(row[:3] for row in pulled)], kinds).predict({"clients": 7})
    known = model.calibrate_any([*sure, *pulled], kinds).predict({"clients": 7})
    assert plain.high < 94e6 < known.high
    assert known.low <= 48e6 < plain.low
    assert known.value == plain.value
    # A ceiling is one all the same.
    rows = [({"streams": n, "window": 0}, 9e8, (n,), (8e8, 1.2e9)) for n in (1, 2, 4)]
    assert model.calibrate_any(rows, {"streams": "integer"}, 9.9e8).predict({"streams": 3, "window": 0}).high <= 9.9e8


def test_no_rate_is_predicted_above_what_tcp_can_have():
    calibrated = model.calibrate_transport(
        [Observation({"streams": n, "window": 0}, 141e6 * n) for n in (1, 2, 4)], 990e6
    )
    predicted = calibrated.predict({"streams": 32, "window": 0})
    assert predicted.value <= predicted.high <= 990e6
    assert predicted.limit == model.CAPACITY


def test_an_automatic_window_is_predicted_from_automatic_ones_only():
    calibrated = model.calibrate_transport([Observation({"streams": 1, "window": w}, w * 1e3) for w in (1, 2, 4)])
    with pytest.raises(NotPredictable, match="automatic window was not measured"):
        calibrated.predict({"streams": 1, "window": 0})
    tuned = model.calibrate_transport([Observation({"streams": n, "window": 0}, n * 1e7) for n in (1, 2, 4)])
    with pytest.raises(NotPredictable, match="No explicit window"):
        tuned.predict({"streams": 1, "window": 65536})


def test_a_cap_on_each_flow_is_told_from_the_window():
    seen = [
        Observation({"streams": n, "window": w}, n * min(w * 59.0, 9e6))
        for n, w in ((1, 65536), (1, 131072), (1, 2**20), (1, 2**23), (4, 2**20), (8, 2**23))
    ]
    calibrated = model.calibrate_transport(seen, 437e6)
    assert calibrated.constants["flow"] == pytest.approx(9e6, rel=0.01)
    predicted = calibrated.predict({"streams": 6, "window": 2**22})
    assert (predicted.limit, predicted.value) == (model.FLOW, pytest.approx(54e6, rel=0.05))


@pytest.mark.parametrize("rates", [{1: 5e7, 2: 1e8}, {}, {1: 0.0, 2: 0.0, 4: 0.0}])
def test_too_few_settings_carry_no_model(rates):
    with pytest.raises(NotPredictable, match="measure at least 3"):
        model.calibrate_transport([Observation({"streams": n, "window": 0}, rate) for n, rate in rates.items()])


def test_chance_carries_no_model():
    chance = random.Random(5)
    seen = [Observation({"streams": 2**n, "window": 0}, 10 ** chance.uniform(5, 9)) for n in range(8)]
    with pytest.raises(NotPredictable, match="misses settings"):
        model.calibrate_transport(seen)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 128), st.integers(0, 2**26), st.floats(1e3, 1e11)), max_size=8), st.data())
def test_any_observations_give_a_finite_prediction_or_a_reason(rows, data):
    seen = [Observation({"streams": n, "window": w}, rate) for n, w, rate in rows]
    setting = {"streams": data.draw(st.integers(1, 128)), "window": data.draw(st.integers(0, 2**26))}
    try:
        predicted = model.calibrate_transport(seen).predict(setting)
    except NotPredictable as refusal:
        assert str(refusal.message)
    else:
        assert 0 < predicted.low <= predicted.value <= predicted.high


def test_a_rate_over_clients_is_predicted_between_and_beyond():
    # GPFS over the WAN: 13 MB/s for each task up to the line's 115.
    seen = [Observation({"clients": n}, min(13e6 * n, 115e6)) for n in (1, 2, 4, 8, 12)]
    calibrated = model.calibrate_counts(seen, "clients")
    assert calibrated.predict({"clients": 6}).value == pytest.approx(78e6, rel=0.1)
    assert calibrated.predict({"clients": 16}).value == pytest.approx(115e6, rel=0.1)
    assert calibrated.predict({"clients": 16}).beyond == ("clients",)


def test_a_rate_that_falls_with_clients_goes_on_falling():
    seen = [Observation({"clients": n}, 60e6 * n / (1 + 0.3 * (n - 1) + 0.12 * n * (n - 1))) for n in (1, 2, 3, 4, 6)]
    calibrated = model.calibrate_counts(seen, "clients")
    assert calibrated.predict({"clients": 8}).value < calibrated.predict({"clients": 4}).value


def test_synchronous_reads_are_predicted_from_two_constants():
    # GlusterFS over 4.8 ms, direct reads of 64 KiB to 4 MiB (recorded).
    seen = [
        Observation({"block_size": size * KIB}, rate)
        for size, rate in ((64, 11.1e6), (256, 33.8e6), (1024, 68.4e6), (4096, 99.2e6))
    ]
    calibrated = model.calibrate_sizes(seen, "block_size")
    assert calibrated.constants["wait"] == pytest.approx(5.4e-3, rel=0.1)
    predicted = calibrated.predict({"block_size": 512 * KIB})
    assert predicted.low < 50e6 < predicted.high
    assert predicted.limit == "wait"


def rows(name, values, rate=lambda value: 1e6 * value, **fixed):
    return [({name: value, **fixed}, rate(value), (place,)) for place, value in enumerate(values)]


def test_the_model_is_chosen_by_the_factor_that_varied():
    streams = model.calibrate_any(rows("streams", (1, 2, 4), window=0), KINDS)
    assert streams.predict({"streams": 3, "window": 0}).value == pytest.approx(3e6, rel=0.02)
    clients = model.calibrate_any(rows("clients", (1, 2, 4), note="x"), KINDS)
    assert clients.predict({"clients": 3}).value == pytest.approx(3e6, rel=0.02)
    sizes = model.calibrate_any(rows("block_size", (4096, 8192, 65536)), KINDS)
    assert sizes.predict({"block_size": 16384}).value == pytest.approx(1.64e10, rel=0.05)


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (rows("congestion", ("cubic", "bbr", "reno"), lambda _value: 1e6), "neither a count nor a size"),
        (rows("clients", (1, 1), note=1), "One setting was measured"),
        ([({"clients": n, "block_size": n}, 1e6, ()) for n in (1, 2, 4)], "block_size, clients varied at once"),
        ([], "One setting was measured"),
    ],
)
def test_what_no_model_serves_is_refused_with_a_reason(seen, said):
    with pytest.raises(NotPredictable, match=said):
        model.calibrate_any(seen, KINDS)
