"""What is logged, and where: the console of each process, and files of their own for whoever looks back later."""

from pathlib import Path
from typing import Any

FILES = ("access", "audit")


def logging_of(folder: Path, *, has_access: bool) -> dict[str, Any]:
    """Return Django's LOGGING with the files in a folder; `has_access` says whether requests are written down."""
    files = {
        name: {"class": "apps.core.audit.LogFile", "formatter": "line", "filename": str(folder / f"{name}.log")}
        for name in FILES
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        # Each outage is one line; each request that it refuses need not be another.
        "filters": {
            "refusals": {"()": "apps.core.log_lines.RefusalFilter"},
            "outages": {"()": "apps.core.outage.OneLineEach"},
            "seldom": {"()": "apps.core.log_lines.PerMinute"},
            "some": {"()": "apps.core.log_lines.PerMinute", "most": 30},
            "refused": {"()": "apps.core.log_lines.RefusedPerMinute", "most": 60},
        },
        "formatters": {
            "line": {
                "()": "apps.core.log_lines.LineFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
            }
        },
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["refusals", "outages"]},
            **files,
        },
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {
            # One tick a second would fill the log with two lines a second that say nothing.
            **{name: {"level": "WARNING"} for name in ("celery.app.trace", "celery.worker.strategy")},
            # What breaks an answer off, which uvicorn logs by a handler of its own.
            "uvicorn.error": {"filters": ["refusals"]},
            # Addresses that are none, and forms of others: more of them stand in access.log, if that is written.
            **{f"django.{name}": {"filters": ["some"]} for name in ("request", "security.csrf")},
            # A name of a host that is not the service's.
            "django.security.DisallowedHost": {"filters": ["seldom"]},
            # Each process of an agent that is refused: who has its token begins as many as they like.
            "fathom.refused": {"filters": ["seldom"]},
            # Of each connection that it cannot replace in an outage, again and again; the outage is told of as one.
            "psycopg.pool": {"level": "ERROR"},
            # Who has not signed in may not turn out of the file who changed what.
            "fathom.access": {
                "handlers": ["access"] if has_access else [],
                "filters": ["refused"],
                "propagate": False,
            },
            # What concerns rights stands among all else, too.
            "fathom.audit": {"handlers": ["audit"]},
        },
    }
