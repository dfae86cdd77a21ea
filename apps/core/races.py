"""What fails because somebody else deleted or changed the same thing at the same moment."""

import logging

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, IntegrityError
from django.utils.translation import gettext_lazy as _
from psycopg import errors

_COLLISIONS = (errors.UniqueViolation, errors.ForeignKeyViolation, errors.ExclusionViolation)
logger = logging.getLogger(__name__)

GONE = _("What this is about is not there any more: it was deleted at this moment.")
CHANGED = _("Someone changed the same thing at this moment: read it again, then repeat the request.")


def is_lost(error: BaseException) -> bool:
    """Return whether something that a request had found, or was to change, is gone."""
    # Django raises the plain class, with no error of the database behind it, where an UPDATE met no row.
    met_no_row = type(error) is DatabaseError and error.__cause__ is None
    return isinstance(error, ObjectDoesNotExist) or met_no_row


def is_collision(error: BaseException) -> bool:
    """Return whether what was to be stored does not go with what others stored meanwhile."""
    # A missing value, or one that a check refuses, is no other request's: it is a slip of ours.
    return isinstance(error, IntegrityError) and isinstance(error.__cause__, _COLLISIONS)


def note(error: BaseException) -> None:
    """Log one that was answered: should it be no race but a slip of ours, it is to be found."""
    logger.warning("Answered as a race with another request: %s", error, exc_info=error)
