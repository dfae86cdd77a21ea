"""What Django asks a backend for: its own, which connects with sessions of ours."""

from types import ModuleType

import psycopg
from django.db.backends.postgresql import base

from apps.core.sessions import Session


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, but for how it connects."""

    Database = ModuleType("psycopg of sessions")
    Database.__dict__.update(vars(psycopg), connect=Session.connect)
