"""Celery's command line, in a process that has loaded all that it needs: python -m workers worker --queues=clock.

`python -m celery -A workers` does the same. Here the collector does not look through the modules while they are
loaded, a fifth of the start, nor later: those of a worker's children stay one memory.
"""

import gc
import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings.production")
gc.disable()

import django  # noqa: E402
from celery.bin import celery as program  # noqa: E402
from django.core.exceptions import ImproperlyConfigured  # noqa: E402

from workers import celery_app  # noqa: E402


def main(arguments: list[str]) -> None:
    """Carry out a command; as the program of Celery itself, it ends with the exit status of that."""
    try:
        django.setup()
    except ImproperlyConfigured as error:
        sys.exit(f"fathom: {error}")
    celery_app.loader.import_default_modules()
    gc.freeze()
    gc.enable()
    program.celery(["-A", "workers", *arguments], prog_name="python -m workers", auto_envvar_prefix="CELERY")


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit("Say what to run, worker or beat: docs/running.md has the commands."))
