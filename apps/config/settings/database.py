"""Read a PostgreSQL address (DATABASE_URL) into Django's form, which apps.core.connections fits to each process."""

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

# An archive lies in memory or on solid state: a page read out of turn costs hardly more than the next one. Ten
# thousands of rows are sorted in memory, and no page runs long enough for a query to be compiled.
PLANNING = "-c random_page_cost=1.1 -c work_mem=16MB -c jit=off"
# A server whose machine or network is gone is noticed within a minute, also by who only waits for an answer.
KEEPALIVES = {
    "connect_timeout": "10",
    "keepalives": "1",
    "keepalives_idle": "20",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "50000",
}

Entry = dict[str, Any]
# One for a download, one for an agent, and one for a page.
_FEWEST = 3


def from_url(url: str) -> Entry:
    """Return Django's DATABASES entry of ``postgresql://user:password@host:port/name?host=/socket/folder``.

    An ``options=`` of its own takes the place of how queries are planned (PLANNING), for poolers that allow none.
    Raises ImproperlyConfigured for another scheme or a missing name: Fathom runs on PostgreSQL only.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured(
            f"DATABASE_URL must start with postgresql:// (it starts with {parts.scheme or 'nothing'}://)."
        )
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise ImproperlyConfigured("DATABASE_URL names no database: postgresql://user:password@host/NAME.")
    query = {"options": PLANNING, **KEEPALIVES} | {
        key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()
    }
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or query.pop("user", "")),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or parts.hostname or "",
        "PORT": parts.port or query.pop("port", ""),
        # A thread that ends without closing its connection would leave it open until garbage is collected.
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": query,
    }


def connections_of(text: str) -> int:
    """Return WEB_CONNECTIONS, 12 if it is empty; ImproperlyConfigured if a web process cannot do with so many."""
    if not text:
        return 12
    if not text.isdecimal() or int(text) < _FEWEST:
        raise ImproperlyConfigured(f"WEB_CONNECTIONS={text} is no number of connections: give {_FEWEST} or more.")
    return int(text)
