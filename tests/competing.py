"""The same done several times at one instant, each in a connection of its own."""

import threading
from collections.abc import Callable

from django.db import connection

WORKERS = 4


def at_once(work: Callable[[], object]) -> list[object]:
    """Do the same in several threads, each with its own connection, from one instant on; return what each gave."""
    barrier = threading.Barrier(WORKERS)
    given: list[object] = []

    def one() -> None:
        try:
            barrier.wait()
            given.append(work())
        except Exception as error:
            given.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return given
