"""Answers that wait in memory for their readers: so much of each asker, and so much in all."""

import threading
from collections import Counter

from django.http import HttpResponse
from rest_framework.response import Response

from apps.bench.text import Message, _
from apps.core import endings
from apps.core.limits.at_once import Asker
from apps.core.limits.policies import LimitExceededError

MIB = 1024 * 1024
# What is smaller waits in the buffers of its connection.
LARGE = MIB // 4
# As long as a reader who is too slow is borne (s).
RETRY_AFTER_S = 45
_TOO_MUCH = _("Large answers wait for their readers, who do not take them. Try again in %(seconds)s s.")


class Untaken:
    """The bytes of large answers that their readers do not have yet, by asker."""

    def __init__(self, of_asker: int, of_all: int) -> None:
        self._of_asker, self._of_all = of_asker, of_all
        self._bytes: Counter[str] = Counter()
        self._lock = threading.Lock()

    def keep(self, response: HttpResponse, asker: str) -> None:
        """Count an answer until its request ends; LimitExceededError (429) if too much waits already."""
        size = len(response.content)
        if isinstance(response, Response):
            # What it was rendered from is several times as long.
            response.data = None
            vars(response).pop("renderer_context", None)
        with self._lock:
            if self._bytes[asker] + size > self._of_asker or self._bytes.total() + size > self._of_all:
                raise LimitExceededError(Message(_TOO_MUCH), RETRY_AFTER_S)
            self._bytes[asker] += size
        if not endings.at_end(lambda: self._forget(asker, size)):
            self._forget(asker, size)

    def _forget(self, asker: str, size: int) -> None:
        with self._lock:
            self._bytes[asker] -= size
            self._bytes = +self._bytes


_of_people, _of_strangers = Untaken(64 * MIB, 384 * MIB), Untaken(16 * MIB, 128 * MIB)


def keep(response: HttpResponse, asker: Asker) -> None:
    """Count a LARGE answer until its request ends; LimitExceededError (429) if too much waits already.

    Of who is not known an address has little, and all together leave the room of who is.
    """
    (_of_people if asker.is_known else _of_strangers).keep(response, asker.name)
