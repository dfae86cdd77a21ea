"""What takes long and is the same for all who ask: made by the first, waited for by the others."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from functools import update_wrapper
from typing import Any, Generic, TypeVar

from apps.core.connections import give_back

T = TypeVar("T")


class _MadeOnce(Generic[T]):
    def __init__(self, make: Callable[..., T], most: int) -> None:
        self._make, self._most = make, most
        self._results: OrderedDict[tuple[Any, ...], Future[T]] = OrderedDict()
        self._lock = threading.Lock()
        update_wrapper(self, make)

    def __call__(self, *key: Any) -> T:
        with self._lock:
            result = self._results.get(key)
            is_first = result is None
            result = self._results[key] = result or Future()
            self._results.move_to_end(key)
            if len(self._results) > self._most:
                self._results.popitem(last=False)
        if is_first:
            self._carry_out(key, result)
        elif not result.done():
            # Who waits keeps no connection from others.
            give_back()
        return result.result()

    def forget(self) -> None:
        """Make everything anew when it is asked for."""
        with self._lock:
            self._results.clear()

    def _carry_out(self, key: tuple[Any, ...], result: Future[T]) -> None:
        try:
            result.set_result(self._make(*key))
        except BaseException as error:
            with self._lock:
                if self._results.get(key) is result:
                    del self._results[key]
            result.set_exception(error)


def made_once(most: int) -> Callable[[Callable[..., T]], _MadeOnce[T]]:
    """Keep the results for the `most` last asked arguments; of threads that ask at once one makes a result.

    What fails is kept for those who waited only.
    """
    return lambda make: _MadeOnce(make, most)
