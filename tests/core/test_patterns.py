"""No text makes a regular expression of the service slow: each of their repeats is pumped."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.core import limited_readers, patterns, pumping
from tests.rotation import part_of

# Signs, after how long (s of a processor) more are tried, and after how long it is ended: what grows with the square
# of the length takes a tenth of the first, what grows with the cube five times as much, and what doubles never ends.
STEPS = ((250, 0.003, 0.15), (1000, 0.03, 0.3), (4000, 1.0, 1.2))
# What is pumped between two repeats, and what is searched for in texts of any length, so far and no longer (s).
LONG, LONG_S, LONG_END_S = 32_000, 0.3, 0.4
# What reads the texts of tools and imports does so within `cpu_time.limited`, but for what `limited_readers` finds a
# way to that goes through none; what else is searched for, a web process or an agent may search for in texts of any
# length, but for the last, which read the service's own files.
LIMITED = ("apps/bench/tools/", "apps/bench/outputs/", "apps/bench/recognition/", "apps/archive/imports/")
OWN = ("apps/core/tables.py", "apps/core/whole_schema.py")


class SlowError(Exception):
    """A match took too long."""


def _collected() -> list[tuple[re.Pattern, str, bool]]:
    """Return each pattern with its place, and whether it is searched for in a text rather than matched with it."""
    told = subprocess.run(
        [sys.executable, "-m", patterns.__name__], cwd=patterns.OWN, capture_output=True, check=True, text=True,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "apps.config.settings.test"},
    )  # fmt: skip
    found = []
    for line in told.stdout.splitlines():
        text, flags, is_bytes, place, is_searched = json.loads(line)
        found.append((re.compile(text.encode("latin-1") if is_bytes else text, flags), place, is_searched))
    return found


@pytest.fixture
def timer() -> Iterator[None]:
    """Raise SlowError in a match that takes longer than it may."""

    def end(_number: int, _frame: object) -> None:
        raise SlowError

    before = signal.signal(signal.SIGVTALRM, end)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def _seconds(pattern: re.Pattern, look: Callable[[Any], object], text: str, end_s: float) -> float:
    own = text.encode("latin-1") if isinstance(pattern.pattern, bytes) else text
    began = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, end_s)
    try:
        look(own)
    except SlowError:
        return math.inf
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - began


def _slow_text(pattern: re.Pattern) -> str | None:
    """Return a text that is slow to be searched or matched, None if there is none."""
    for pump in pumping.pumps(pattern):
        for look in (lambda text: sum(1 for _ in pattern.finditer(text)), pattern.fullmatch):
            if pump.is_between:
                if _seconds(pattern, look, pump.text(LONG), LONG_END_S) > LONG_S:
                    return pump.text(STEPS[0][0])
                continue
            for length, suspect_s, end_s in STEPS:
                took_s = _seconds(pattern, look, pump.text(length), end_s)
                # What was ended takes no less time with more signs.
                if math.isinf(took_s) or (length == STEPS[-1][0] and took_s > suspect_s):
                    return pump.text(STEPS[0][0])
                if took_s <= suspect_s:
                    break
    return None


def _slow_search(pattern: re.Pattern) -> str | None:
    """Return a text in which searching takes time that grows with the square of its length, None if there is none."""

    def look(text: Any) -> object:
        return sum(1 for _ in pattern.finditer(text))

    return next(
        (
            pump.text(STEPS[0][0])
            for pump in pumping.pumps(pattern)
            if _seconds(pattern, look, pump.text(LONG), LONG_END_S) > LONG_S
        ),
        None,
    )


def test_whoever_reads_what_a_tool_printed_is_limited() -> None:
    printed = limited_readers.read_without_limit(("apps/bench/tools/", "apps/bench/recognition/"))
    assert printed == {}


@pytest.mark.parametrize("pattern", [r"skmem:\(([^)]*)\)", r"([a-z]+)(\d+)", r"(\d+(?:\.\d+)?) ?Gbit", r"\s*x"])
def test_what_is_slow_in_long_texts_is_seen(pattern: str, timer: None) -> None:
    assert _slow_search(re.compile(pattern)) is not None


@pytest.mark.parametrize("pattern", [r"skmem:\(([^()]*)\)", r"(?<![a-z])([a-z]{1,8})(\d{1,18})", r"(?<!\d)\d+x"])
def test_what_is_quick_in_long_texts_is_let_alone(pattern: str, timer: None) -> None:
    assert _slow_search(re.compile(pattern)) is None


def test_nothing_is_searched_for_that_long_texts_make_slow(timer: None) -> None:
    paths = [
        (pattern, place.replace(".", "/") if ".py:" not in place else place)
        for pattern, place, is_searched in _collected()
        if is_searched
    ]
    reached = tuple(f"{module.replace('.', '/')}.py" for module in limited_readers.read_without_limit(LIMITED))
    # Cells of tables, of which a page shows some, and whatever weighs a document.
    assert {"apps/archive/imports/cells.py", "apps/bench/outputs/weights.py"} <= set(reached)
    searched = [
        (pattern, path)
        for pattern, path in paths
        if path.startswith(reached) or not path.startswith((*LIMITED, *OWN))
    ]
    assert len(searched) > 100
    slow = {
        f"{place} {pattern.pattern!r}": text[:80]
        for pattern, place in part_of(searched)
        if (text := _slow_search(pattern))
    }
    assert not slow


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(?:[a-z]+=[^ \n]+ ?)+$", r"^(?:(?: {4}[^\n]*\n?)*)x", r"(.*?)\s*\[", r"(?:a|a)+b", r"\s*\s*\s*x",
        r"^from .*?seq=\d .*?time=\d",
    ],
)  # fmt: skip
def test_what_is_slow_is_seen(pattern: str, timer: None) -> None:
    assert _slow_text(re.compile(pattern)) is not None


@pytest.mark.parametrize("pattern", [r"^(?:[a-z]+=[^ \n]+)(?: [a-z]+=[^ \n]+)* ?$", r"(?>a|a)+b", r"\d+x", r"\s*+x"])
def test_what_is_quick_is_let_alone(pattern: str, timer: None) -> None:
    assert _slow_text(re.compile(pattern)) is None


def test_no_pattern_can_be_made_slow(timer: None) -> None:
    found = [(pattern, place) for pattern, place, _is_searched in _collected()]
    places = " ".join(place for _pattern, place in found)
    assert len(found) > 500
    for package in (
        "apps/bench/tools/_nuttcp",
        "apps/bench/recognition",
        "apps/archive/imports",
        "apps/bench/telemetry",
    ):
        assert package in places
    slow = {
        f"{place} {pattern.pattern!r}": text[:80]
        for pattern, place in part_of(found)
        if (text := _slow_text(pattern))
    }
    assert not slow
