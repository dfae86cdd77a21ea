"""Django's sessions in the database, whose keys are looked up only where one could have been given out."""

from typing import Any

from django.contrib.sessions.backends import db

from apps.core.limits.askers import is_session_key


class SessionStore(db.SessionStore):
    """The sessions that SESSION_ENGINE names."""

    def _validate_session_key(self, key: Any) -> bool:
        return isinstance(key, str) and is_session_key(key)
