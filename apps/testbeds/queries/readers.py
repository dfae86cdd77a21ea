"""Who reads what is of a node: the commands that ran there, what they printed, and what its agent told."""

from typing import TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import Model, QuerySet

from apps.accounts import rights
from apps.accounts.models import User

M = TypeVar("M", bound=Model)


def of_own_nodes(rows: QuerySet[M], user: User | AnonymousUser | None, path: str = "node") -> QuerySet[M]:
    """Return the rows of those nodes of which a person may read commands, outputs and facts; `path` leads to a node.

    These are of the team whose nodes they are, whoever else sees the figures that rest on them. None is the service
    itself. Pages, REST, exports, archives and reports ask here.
    """
    return rows if user is None else rights.visible(rows, user, path=f"{path}__team" if path else "team")
