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


def nested(effects, noise, seed=1):
    """Return figures by class and ranks, of which each class has its own, three of each."""
    chance = random.Random(seed)
    settings = [
        (name, ranks)
        for name, own in {"A": (16, 64, 100), "B": (64, 256), "C": (256, 1024)}.items()
        for ranks in own
        for _repetition in range(3)
    ]
    columns = dict(zip(("problem", "ranks"), zip(*settings, strict=True), strict=True))
    return columns, [effects(*setting) * (1 + chance.gauss(0, noise)) for setting in settings]


def test_ranks_without_effect_have_no_share_of_the_classes_they_differ_by():
    by_class = {"A": 300, "B": 500, "C": 700}
    importance = explain_variance(*nested(lambda name, _ranks: by_class[name], 0.02))
    parts = shares(importance)
    assert parts[("ranks",)].share < 0.02
    assert parts[("ranks",)].p > 0.05
    assert parts[("problem",)].share > 0.1
    assert parts[("problem",)].p < 1e-6
    assert importance.shared > 0.5
    total = sum(share.share for share in importance.shares) + importance.shared + importance.rest + importance.noise
    assert total == pytest.approx(1, abs=0.01)


def test_unequal_combinations_give_few_false_alarms():
    """Ranks have no effect: of two hundred such sweeps about one in twenty has a p below 0.05."""
    alarms = 0
    for seed in range(200):
        importance = explain_variance(*nested(lambda name, _ranks: 300 if name == "A" else 600, 0.05, seed))
        alarms += shares(importance)[("ranks",)].p < 0.05
    assert alarms <= 16


def test_factors_that_changed_together_only_are_not_told_apart():
    columns = {"window": [1, 1, 2, 2, 4, 4, 1, 2], "mss": [9, 9, 8, 8, 7, 7, 9, 8], "port": [1, 2, 1, 2, 1, 2, 1, 1]}
    importance = explain_variance(columns, [1.0, 1.1, 2.0, 2.1, 4.0, 4.1, 1.05, 2.05])
    parts = shares(importance)
    assert (parts[("window",)].share, parts[("mss",)].share) == (None, None)
    assert parts[("port",)].share is not None
    assert importance.shared > 0.9


def test_equal_combinations_have_one_answer_either_way():
    columns, values = sweep(lambda w, n: w * n, noise=1)
    equal = shares(explain_variance(columns, values))
    # Once more of one combination hardly changes what each explains.
    more = shares(explain_variance({name: [*own, own[0]] for name, own in columns.items()}, [*values, values[0]]))
    for factors, share in equal.items():
        assert more[factors].share == pytest.approx(share.share, abs=0.03)


def test_very_many_unequal_settings_are_not_told():
    columns = {"seed": [*range(400), 0], "side": [number % 2 for number in range(401)]}
    assert explain_variance(columns, [float(number % 7) for number in range(401)]) is None
