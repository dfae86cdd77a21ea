"""Whether the tables are those of this code: what starts from newer code than they are, or older, would run half.

The steps that the code has are read from the names of its files, by which a process also sees that other code was put
in the place of its own. Nothing of a newer code is loaded for it.
"""

import ast
import contextlib
import functools
import importlib.util
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

Step = tuple[str, str]

_OWN = "apps."
_REPLACES = re.compile(r"^    replaces = (\[.*?\])", re.MULTILINE | re.DOTALL)
# So many of the steps that are not known are named.
_NAMED = 3


@dataclass(frozen=True)
class Steps:
    """The migrations (app, name) that some code has, those that stand for former ones, and its own apps."""

    names: frozenset[Step]
    former: dict[Step, frozenset[Step]] = field(default_factory=dict)
    own: frozenset[str] = frozenset()


@dataclass(frozen=True)
class VersionGap:
    """How many steps of the code the tables lack, and which of theirs it does not know.

    `is_stale` says that the code on the disk does.
    """

    pending: int = 0
    later: tuple[str, ...] = ()
    is_stale: bool = False

    def words(self) -> str:
        """Return in the reader's words what is the matter, and what to do."""
        if self.is_stale:
            return _("Restart the service: it still runs code of before the last migrations.")
        if self.later:
            return words_of_later(self.later)
        text = ngettext(
            "Restart the service: %(number)s migration is to be applied.",
            "Restart the service: %(number)s migrations are to be applied.",
            self.pending,
        )
        return text % {"number": self.pending}


def words_of_later(steps: Iterable[str]) -> str:
    """Return the words for a database with steps ("app.name") that this code does not know."""
    ordered = sorted(steps)
    names = ", ".join(ordered[:_NAMED]) + (", …" if len(ordered) > _NAMED else "")
    text = _(
        "This database is of a later version of Fathom, or of another one: it has %(steps)s,"
        " which this one does not know. Start a version that knows them, or put a backup of before it in the place of"
        " what is there."
    )
    return text % {"steps": names}


def on_disk() -> Steps:
    """Return the steps of the code that lies on the disk now: that of whatever starts next."""
    names: set[Step] = set()
    former: dict[Step, frozenset[Step]] = {}
    for label, is_own, folder in _folders():
        for file in _files(folder):
            step = label, Path(file.name).stem
            names.add(step)
            if is_own and (replaced := _replaced(file.path, file.stat().st_mtime_ns)):
                former[step] = replaced
    return Steps(frozenset(names), former, frozenset(label for label, is_own, _folder in _folders() if is_own))


@functools.cache
def of_this_code() -> Steps:
    """Return the steps of the code that this process runs, if it asks when it starts."""
    return on_disk()


def compare(code: Steps, applied: frozenset[Step]) -> VersionGap | None:
    """Return in what tables with the steps `applied` are not those of the code, None if they are.

    A step is applied, too, if all those were that it stands for.
    """
    done = {step for step, former in code.former.items() if former <= applied}
    steps = code.names.union(*code.former.values())
    later = sorted(f"{app}.{name}" for app, name in applied - steps if app in code.own)
    pending = len(code.names - applied - done)
    return VersionGap(pending, tuple(later)) if pending or later else None


@functools.cache
def _folders() -> tuple[tuple[str, bool, str], ...]:
    """Return label, whether it is one of ours, and folder of each app's migrations, whether or not it has any."""
    folders = []
    for name in settings.INSTALLED_APPS:
        spec = importlib.util.find_spec(name)
        places = list(spec.submodule_search_locations or ()) if spec else []
        folders += [(name.rpartition(".")[2], name.startswith(_OWN), f"{place}/migrations") for place in places]
    return tuple(folders)


def _files(folder: str) -> list["os.DirEntry[str]"]:
    """Return the files of a folder that Django takes for migrations."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        return [entry for entry in entries if entry.name.endswith(".py") and entry.name[0] not in "_~"]
    return []


@functools.lru_cache(maxsize=1000)
def _replaced(path: str, _changed_ns: int) -> frozenset[Step]:
    """Return the steps that the one in a file stands for, none for most; it is read again once it has changed."""
    match = _REPLACES.search(Path(path).read_text(encoding="utf-8"))
    # It may be written at this moment.
    with contextlib.suppress(ValueError, SyntaxError, TypeError):
        return frozenset((app, name) for app, name in ast.literal_eval(match.group(1))) if match else frozenset()
    return frozenset()
