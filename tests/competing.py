"""What is done at one instant, each in a connection of its own: the same several times, or one after another."""

import queue
import threading
import time
from collections.abc import Callable

from django.db import connection, transaction

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


def after(first: Callable[[], object], find: Callable[[], Callable[[], object]]) -> object:
    """Return what an act gives that has found its rows before `first` was committed, and waits for one of them.

    `find` reads these, and returns the act.
    """
    process, given = queue.Queue[int](), queue.Queue[object]()

    def second() -> None:
        try:
            act = find()
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                process.put(cursor.fetchone()[0])
            given.put(act())
        except Exception as error:
            given.put(error)
        finally:
            connection.close()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        first()
        thread.start()
        number = process.get(timeout=30)
        while thread.is_alive() and not _is_blocked(number):
            time.sleep(0.01)
        assert thread.is_alive(), given.get()
    thread.join()
    return given.get()


def _is_blocked(process: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [process])
        return bool(cursor.fetchone()[0])
