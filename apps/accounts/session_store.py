"""Django's sessions in the database, whose keys are looked up only where one could have been given out."""

import re
from typing import Any

from django.contrib.sessions.backends import db

# What Django gives out. A cookie may hold any sign, also those that PostgreSQL takes in no text.
_KEY = re.compile(r"[a-z0-9]{32}")


class SessionStore(db.SessionStore):
    """The sessions that SESSION_ENGINE names."""

    def _validate_session_key(self, key: Any) -> bool:
        return isinstance(key, str) and _KEY.fullmatch(key) is not None
