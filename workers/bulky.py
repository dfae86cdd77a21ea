"""Work that may take hours: a machine has one such piece in hand, so that reports and mails do not wait for it.

`worker-long` has two processes. One that comes upon bulky work while the other is at such leaves it: the other asks
for it, of each kind in turn, when it has come to the end of its own.
"""

import platform
from collections.abc import Callable

from apps.core import leases, queue


def carry_out(task: str, take_next: Callable[[], bool]) -> None:
    """Take the next piece of a kind of bulky work unless one is in hand here, and see to it that all kinds go on.

    `take_next` returns whether there was one.
    """
    with leases.hold(f"bulky work at {platform.node()}") as is_free:
        has_begun = is_free and take_next()
    if has_begun:
        # Those whose messages came meanwhile first, in an order that brings each to its turn.
        after = queue.BULKY_TASKS.index(task) + 1
        for other in (*queue.BULKY_TASKS[after:], *queue.BULKY_TASKS[:after]):
            queue.send(other)
