"""Parts of a page or a document computed one by one, so that one that fails is named and takes no other along."""

import logging
from collections.abc import Callable
from typing import TypeVar

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import DatabaseError
from django.http import Http404

from apps.bench.rules.runner import words_of
from apps.bench.text import Message, _

logger = logging.getLogger(__name__)
T = TypeVar("T")

# These are answers to the reader, or concern the whole.
_PASSED = (Http404, PermissionDenied, ValidationError, DatabaseError)


def attempt(name: str, compute: Callable[[], T], otherwise: T) -> tuple[T, Message | None]:
    """Return what `compute` returns, or `otherwise` and the words for the part (a msgid) that failed, and log it."""
    try:
        return compute(), None
    except _PASSED:
        raise
    except Exception as error:
        logger.exception("%s could not be computed", name)
        return otherwise, failed(name, words_of(error))


def failed(name: str, error: str) -> Message:
    """Return the words for a part (a msgid) that failed."""
    text = _("%(part)s could not be computed (%(error)s); the other parts are complete.")
    return Message(text, {"part": Message(name).as_json(), "error": error})
