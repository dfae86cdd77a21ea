"""Garbage is collected seldom only while something large is made."""

import gc

import pytest

from apps.core import garbage


def test_the_thresholds_are_the_usual_ones_after_the_last_of_several() -> None:
    usual = gc.get_threshold()
    with garbage.seldom():
        with garbage.seldom():
            assert gc.get_threshold() == garbage._SELDOM
        assert gc.get_threshold() == garbage._SELDOM
    assert gc.get_threshold() == usual != garbage._SELDOM


def test_they_are_also_after_a_failure() -> None:
    usual = gc.get_threshold()
    with pytest.raises(ValueError, match="large"), garbage.seldom():
        raise ValueError("too large")
    assert gc.get_threshold() == usual
