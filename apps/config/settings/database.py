"""Read a PostgreSQL address (DATABASE_URL) into Django's form."""

from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured


def from_url(url: str) -> dict[str, object]:
    """Return Django's DATABASES entry of ``postgresql://user:password@host:port/name?host=/socket/folder``.

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
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or query.pop("user", "")),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or parts.hostname or "",
        "PORT": parts.port or query.pop("port", ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": query,
    }
