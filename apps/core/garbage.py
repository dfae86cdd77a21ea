"""Collect garbage seldom for as long as something large is made."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# A page of thousands of figures makes some 100,000 objects and keeps them to its end: to look through them at every
# 700, as is usual, takes a quarter of its time.
_SELDOM = (100_000, 20, 50)
_lock = threading.Lock()
_makers = 0
_usual = gc.get_threshold()


@contextmanager
def seldom() -> Iterator[None]:
    """Have the collector look through new objects seldom for the block, and as usual after the last such block."""
    global _makers, _usual
    with _lock:
        if _makers == 0:
            _usual = gc.get_threshold()
            gc.set_threshold(*_SELDOM)
        _makers += 1
    try:
        yield
    finally:
        with _lock:
            _makers -= 1
            if _makers == 0:
                gc.set_threshold(*_usual)
