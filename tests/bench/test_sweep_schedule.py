"""Schedules: blocks of repetitions, shuffled by a stored seed; warm-ups before the first measurement of a point."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench import sweep


def schedule(points, **options):
    return sweep.schedule_trials([{"level": index} for index in range(points)], sweep.SweepSpec(**options))


def test_as_given_each_repetition_visits_the_points_in_order():
    trials = schedule(3, repetitions=2)
    assert [(trial.repetition, trial.point_index) for trial in trials] == [
        (1, 0),
        (1, 1),
        (1, 2),
        (2, 0),
        (2, 1),
        (2, 2),
    ]
    assert [trial.position for trial in trials] == list(range(6))
    assert not any(trial.is_warmup for trial in trials)


def test_warm_ups_come_right_before_the_first_repetition_of_their_point():
    trials = schedule(2, repetitions=2, warmups=2)
    assert [(trial.point_index, trial.repetition, trial.is_warmup) for trial in trials] == [
        (0, 1, True),
        (0, 2, True),
        (0, 1, False),
        (1, 1, True),
        (1, 2, True),
        (1, 1, False),
        (0, 2, False),
        (1, 2, False),
    ]


def test_a_seed_gives_the_same_order_for_ever():
    trials = schedule(8, repetitions=2, order=sweep.RANDOMISED, seed=42)
    # Written down once: a stored seed must give this order in every later version.
    assert [trial.point_index for trial in trials] == [6, 4, 3, 2, 7, 1, 0, 5, 4, 3, 5, 6, 1, 7, 2, 0]


def test_another_seed_gives_another_order():
    orders = {
        tuple(trial.point_index for trial in schedule(20, order=sweep.RANDOMISED, seed=seed)) for seed in range(20)
    }
    assert len(orders) == 20


def test_each_block_is_shuffled_anew():
    trials = schedule(20, repetitions=2, order=sweep.RANDOMISED, seed=1)
    assert [trial.point_index for trial in trials[:20]] != [trial.point_index for trial in trials[20:]]


def test_more_repetitions_leave_the_order_of_the_first_ones_alone():
    options = {"order": sweep.RANDOMISED, "seed": 3, "warmups": 1}
    assert schedule(9, repetitions=4, **options)[: 9 * 3] == schedule(9, repetitions=2, **options)


def test_every_place_in_a_block_is_equally_likely():
    first_places = [0] * 4
    for seed in range(4000):
        first_places[schedule(4, order=sweep.RANDOMISED, seed=seed)[0].point_index] += 1
    # 4000 draws with p = 1/4 have a standard deviation of 27.
    assert all(abs(count - 1000) < 5 * 27 for count in first_places)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"repetitions": 0}, "repetitions"),
        ({"repetitions": 1001}, "repetitions"),
        ({"warmups": -1}, "warmups"),
        ({"order": "random"}, "order"),
        ({"seed": 2**31}, "seed"),
    ],
)
def test_it_refuses_a_schedule_out_of_range(options, field):
    with pytest.raises(sweep.SweepError) as refusal:
        schedule(1, **options)
    assert list(refusal.value.errors) == [field]


@given(
    st.integers(0, 12),
    st.integers(1, 4),
    st.integers(0, 3),
    st.sampled_from([sweep.AS_GIVEN, sweep.RANDOMISED]),
    st.integers(0, 2**31 - 1),
)
def test_every_trial_comes_once_and_every_block_holds_every_point(points, repetitions, warmups, order, seed):
    trials = schedule(points, repetitions=repetitions, warmups=warmups, order=order, seed=seed)
    assert len(set(trials)) == len(trials) == points * (repetitions + warmups)
    assert [trial.position for trial in trials] == list(range(len(trials)))
    measured = [trial for trial in trials if not trial.is_warmup]
    for block in range(repetitions):
        of_block = measured[block * points : (block + 1) * points]
        assert {trial.repetition for trial in of_block} <= {block + 1}
        assert sorted(trial.point_index for trial in of_block) == list(range(points))
