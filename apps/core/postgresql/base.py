"""What Django asks a backend for: its own, which connects with sessions of ours."""

from types import SimpleNamespace

import psycopg
from django.db.backends.postgresql import base

from apps.core.sessions import Session


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, but for how it connects."""

    # All that is asked of the module are its names.
    Database = SimpleNamespace(**{**vars(psycopg), "connect": Session.connect})  # type: ignore[assignment]
