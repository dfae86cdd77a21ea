"""What a PostgreSQL that refuses a connection says of itself: only its words tell, such an error has no code."""

import psycopg

_SHUTS_DOWN = "the database system is shutting down"


def shuts_down(error: psycopg.OperationalError) -> bool:
    """Return whether a server refused since it shuts down: it takes nobody any more, whoever is in it still works."""
    return _SHUTS_DOWN in str(error)
