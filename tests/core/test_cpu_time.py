"""Work that takes too much of a processor is ended, wherever it is."""

import re
import signal
import threading
import time

import pytest

from apps.core import cpu_time


def test_a_match_is_ended_within() -> None:
    began = time.process_time()
    with pytest.raises(cpu_time.OutOfTimeError), cpu_time.limited(0.1):
        re.fullmatch("(?:a|a)+b", "a" * 200)
    assert time.process_time() - began < 5


def test_who_catches_the_error_meets_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_time, "_AGAIN_S", 0.05)
    times = 0
    with pytest.raises(cpu_time.OutOfTimeError), cpu_time.limited(0.05):
        while True:
            try:
                re.fullmatch("(?:a|a)+b", "a" * 200)
            except cpu_time.OutOfTimeError:
                times += 1
                if times == 2:
                    raise


def test_what_is_quick_leaves_nothing_behind() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with cpu_time.limited(5):
        with cpu_time.limited(0.001):
            sum(range(300_000))
        assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] > 1
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0
    assert signal.getsignal(signal.SIGVTALRM) == before


def test_no_limit_is_thought_to_hold_in_another_thread() -> None:
    refused: list[str] = []

    def work() -> None:
        try:
            with cpu_time.limited(0.01):
                pass
        except RuntimeError as error:
            refused.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert refused == ["no limit holds in a thread beside the main one"]
