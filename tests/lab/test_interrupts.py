import signal

import pytest

from lab import interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_held_back_until_it_is_asked_for(number: signal.Signals) -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt), interrupts.held() as check:
        check()
        signal.raise_signal(number)
        steps.append("not cut short")
        check()
        steps.append("never reached")
    assert steps == ["not cut short"]


def test_a_signal_that_nobody_asked_for_is_told_at_the_end() -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt), interrupts.held():
        signal.raise_signal(signal.SIGINT)
        steps.append("finished")
    assert steps == ["finished"]


def test_an_error_goes_before_a_signal_and_the_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ValueError, match="worse"), interrupts.held():
        signal.raise_signal(signal.SIGTERM)
        raise ValueError("worse")
    assert signal.getsignal(signal.SIGTERM) == before


def test_nothing_happens_without_a_signal() -> None:
    with interrupts.held() as check:
        check()
