"""What a killed service or restore left on a folder: ended, carried out, or told, before a start goes on."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import psycopg

from launch import database, last_step, orphans, socket_folders
from launch.home import Home, not_ours

# What a supervisor killed with -9 leaves is told to end at once; this long it may take (s).
_PATIENCE_S = 15.0
# The folders of what web process and workers keep; what is in others is made anew, or is refused at once.
WRITTEN = (*last_step.FILES, "log", "reports", "tmp")
# So many of those that cannot be written are named.
_NAMED = 5


def clear(home: Home, report: Callable[[str, str], None]) -> None:
    """End the processes of an earlier run, and carry out the last step of a restore that was cut off."""
    if killed := orphans.end(str(home.folder), patience_s=_PATIENCE_S):
        report("supervisor", f"killed {killed} process(es) that an earlier run left behind")
    if swept := socket_folders.sweep():
        report("supervisor", f"removed {swept} folder(s) of sockets whose services are gone")
    if last_step.finish(home):
        report("supervisor", "put the files of a restore in place that was cut off at its last step")
    for words in (*last_step.left(home), *unwritable(home)):
        report("supervisor", words)


def unwritable(home: Home) -> list[str]:
    """Say of the folders and logs that the parts write which of them they cannot, and whose those are."""
    folders = [home.folder / name for name in WRITTEN if (home.folder / name).is_dir()]
    paths = [*folders, *(inner for folder in folders for inner in _listed(folder))]
    words = [not_ours(error) for path in paths if (error := _refusal(path))]
    more = len(words) - _NAMED
    return [*words[:_NAMED], f"and so it is with {more} more in {home.folder}"] if more > 0 else words


def _listed(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if os.access(folder, os.R_OK) else []


def _refusal(path: Path) -> PermissionError | None:
    """Return what a part would be told that writes here; what is no more, and links, are nobody's."""
    if path.is_symlink() or not path.exists() or os.access(path, os.W_OK):
        return None
    return PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def tell(address: str, report: Callable[[str, str], None]) -> None:
    """Report the databases that a killed restore left, and drop the draft of one in the folder's own server."""
    try:
        # On a server of one's own a restore may be under way from another machine.
        words = database.left_behind(address, is_own=not os.environ.get("DATABASE_URL"))
    except (database.DatabaseError, psycopg.Error):
        # Who may not look is told nothing; that the database cannot be reached others tell.
        return
    for each in words:
        report("postgres", each)
