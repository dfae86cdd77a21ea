"""Celery's worker and beat, in a process that has loaded what it needs: python -m workers worker --queues=clock.

`python -m celery -A workers` does the same. Here Celery's other commands are not loaded, nor a shell to give them in;
and the timetable, which sends tasks by their names, loads neither these nor a model. The collector does not look
through the modules while they are loaded, a fifth of the start, nor later: those of a worker's children stay one
memory.
"""

import gc
import multiprocessing
import os
import sys
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings.production")
gc.disable()

import click  # noqa: E402
import django  # noqa: E402
from celery.bin.base import CLIContext  # noqa: E402
from celery.bin.beat import beat  # noqa: E402
from celery.bin.worker import worker  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.exceptions import ImproperlyConfigured  # noqa: E402
from django.utils.log import configure_logging  # noqa: E402

from workers import celery_app, signs  # noqa: E402

_COMMANDS: dict[str, click.Command] = {"worker": worker, "beat": beat}


def main(arguments: list[str]) -> None:
    """Carry out a command; as the program of Celery itself, it ends with the exit status of that."""
    name, *options = arguments
    if name not in _COMMANDS:
        sys.exit(
            f"There is no command {name!r}: say worker or beat, or python -m celery -A workers for Celery's own."
        )
    try:
        _load(name)
    except ImproperlyConfigured as error:
        sys.exit(f"fathom: {error}")
    gc.freeze()
    gc.enable()
    _COMMANDS[name].main(
        options,
        prog_name=f"python -m workers {name}",
        obj=CLIContext(app=celery_app, no_color="NO_COLOR" in os.environ, workdir=None),
        auto_envvar_prefix=f"CELERY_{name.upper()}",
    )


def _load(name: str) -> None:
    """Load what a command needs."""
    if name == "beat":
        configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
        # Else its start would load them.
        celery_app.loader.worker_initialized = True
    else:
        django.setup()
        celery_app.loader.import_default_modules()
        if signs.FILE in os.environ:
            _share_memory_in(Path(os.environ[signs.FILE]).parent)


def _share_memory_in(folder: Path) -> None:
    """Have the files of memory that is shared with children, which have no name from then on, in a folder that stays.

    Otherwise each worker makes one for itself among the temporary ones, and leaves it there if it is killed.
    """
    # As multiprocessing's own managers tell it to their children; there is no other way.
    multiprocessing.current_process()._config["tempdir"] = str(folder)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit("Say what to run, worker or beat: docs/running.md has the commands."))
