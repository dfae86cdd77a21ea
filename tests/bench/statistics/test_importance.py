"""Which factors matter, on sweeps whose answer is known."""

import itertools
import random

import pytest

from apps.bench.statistics import explain_variance


def sweep(figure, repetitions=3, noise=0.0):
    chance = random.Random(1)
    settings = [
        setting
        for setting in itertools.product([1, 2, 4], [1, 8], [5201, 5202])
        for _repetition in range(repetitions)
    ]
    columns = dict(zip(("window", "streams", "port"), zip(*settings, strict=True), strict=True))
    return columns, [figure(w, n) + chance.gauss(0, noise) for w, n, _port in settings]


def shares(importance):
    return {share.factors: share for share in importance.shares}


def test_a_factor_that_alone_matters_explains_all():
    importance = explain_variance(*sweep(lambda w, n: 10 * w))
    assert shares(importance)[("window",)].share == pytest.approx(1)
    assert shares(importance)[("port",)].share == pytest.approx(0, abs=1e-12)
    assert importance.noise == pytest.approx(0, abs=1e-12)
    assert importance.is_balanced


def test_noise_is_told_from_factors():
    importance = explain_variance(*sweep(lambda w, n: 10 * w + n, noise=3))
    parts = shares(importance)
    assert parts[("window",)].p < 0.001
    assert parts[("port",)].p > 0.05
    assert parts[("streams", "window")].p > 0.05
    assert 0 < importance.noise < 0.5
    assert sum(share.share for share in importance.shares) + importance.rest + importance.noise == pytest.approx(1)


def test_an_interaction_is_no_factors_own():
    # The window limits one stream, not eight: its effect depends on the streams.
    importance = explain_variance(*sweep(lambda w, n: min(10 * w * n, 40), noise=0.1))
    assert shares(importance)[("streams", "window")].share > 0.2
    assert shares(importance)[("streams", "window")].p < 1e-6


def test_without_repetition_there_is_no_p():
    importance = explain_variance(*sweep(lambda w, n: w * n, repetitions=1))
    assert {share.p for share in importance.shares} == {None}
    single = explain_variance({"window": [1, 2, 3]}, [1.0, 2.0, 3.0])
    assert [share.p for share in single.shares] == [None]


def test_missing_combinations_are_said():
    columns, values = sweep(lambda w, n: w + n)
    columns = {name: column[:-3] for name, column in columns.items()}
    assert not explain_variance(columns, values[:-3]).is_balanced


def test_a_switch_is_told_from_a_number():
    importance = explain_variance({"reverse": [True, 1, True, 1]}, [1.0, 2.0, 1.0, 2.0])
    assert shares(importance)[("reverse",)].share == pytest.approx(1)


def test_a_setting_is_wanted_for_each_figure():
    with pytest.raises(ValueError, match="longer"):
        explain_variance({"window": [1, 2]}, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("columns", "values"), [({}, []), ({"a": [1]}, [1.0]), ({"a": [1, 1]}, [1.0, 2.0]), ({"a": [1, 2]}, [1.0, 1.0])]
)
def test_nothing_to_explain_gives_nothing(columns, values):
    assert explain_variance(columns, values) is None
