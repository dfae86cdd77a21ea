"""What this process waits for before it begins: tables of its code. Its log, pages and supervisor are told."""

import contextlib
import logging
import os
from dataclasses import dataclass
from pathlib import Path

from django.utils import translation

from apps.core import tables
from apps.core.tables import Step, VersionGap

logger = logging.getLogger(__name__)

# The file in which a part tells its supervisor what it waits for; without one it only logs it.
FILE = "FATHOM_WAITS"
# The status of a part whose code was replaced while it waited: whoever supervises it starts it again.
REPLACED = 75


@dataclass
class _State:
    """Whether the tables were found to be those of this process, and what it waits for until then."""

    is_over: bool = False
    held: VersionGap | None = None


_state = _State()


def is_over() -> bool:
    """Return whether the tables were found to be those of this process."""
    return _state.is_over


def held() -> VersionGap | None:
    """Return what this process was found to wait for, None if there is nothing."""
    return _state.held


def judge(steps: frozenset[Step]) -> str | None:
    """Return why this process cannot begin with tables that have these steps, None if it can.

    One whose code was replaced by that of the tables meanwhile ends, to be started from it.
    """
    code = tables.of_this_code()
    _state.held = tables.compare(code, steps)
    if _state.held is None:
        _state.is_over = True
        _tell("")
        return None
    on_disk = tables.on_disk()
    if on_disk != code and tables.compare(on_disk, steps) is None:
        logger.warning("The code was replaced by that of the tables: this process ends, to be started from it")
        os._exit(REPLACED)
    # As all that is logged, and without the apps, which the timetable does not load.
    with translation.override(None, deactivate=True):
        words = _state.held.words()
    _tell(words)
    return words


def _tell(words: str) -> None:
    """Tell whoever supervises this process what it waits for; "" says that it waits no more."""
    if not os.environ.get(FILE):
        return
    file = Path(os.environ[FILE])
    with contextlib.suppress(OSError):
        if words:
            file.write_text(words, encoding="utf-8")
        else:
            file.unlink(missing_ok=True)
