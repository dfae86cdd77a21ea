"""Read a PostgreSQL address (DATABASE_URL) into Django's form, which apps.core.connections fits to each process."""

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

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
# And by the server, whose session holds locks (leases) for as long as it takes the client for alive: by its kernel's
# default for two hours, while a machine that lost its power has long begun anew. Ignored over a Unix socket.
SERVER_KEEPALIVES = (
    "-c tcp_keepalives_idle=20 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3 -c tcp_user_timeout=50s"
)

Entry = dict[str, Any]
# Of a web process: one for a download, one for an agent, and one for a page.
FEWEST = 3


def from_url(url: str) -> Entry:
    """Return Django's DATABASES entry of ``postgresql://user:password@host:port/name?host=/socket/folder``.

    An ``options=`` of its own takes the place of how queries are planned (PLANNING), for poolers that allow none.
    Raises ValueError, which says what to give, for another scheme, a port that is none, or a missing name: Fathom
    runs on PostgreSQL only.
    """
    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme not in ("postgres", "postgresql") or not name:
        raise ValueError("give postgresql://user:password@host:port/NAME")
    try:
        port = parts.port
    except ValueError:
        raise ValueError("its port is no number: give postgresql://user:password@host:port/NAME") from None
    query = {"options": PLANNING, **KEEPALIVES} | {
        key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()
    }
    # Who lets nobody set anything has nothing set; what an address sets itself comes later, and holds.
    if query["options"]:
        query["options"] = f"{SERVER_KEEPALIVES} {query['options']}"
    return {
        "ENGINE": "apps.core.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or query.pop("user", "")),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or parts.hostname or "",
        "PORT": port or query.pop("port", ""),
        # A thread that ends without closing its connection would leave it open until garbage is collected.
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": query,
    }
