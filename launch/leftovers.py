"""What a killed service or restore left on a folder: ended, carried out, or told, before a start goes on."""

import os
from collections.abc import Callable

import psycopg

from launch import database, last_step, orphans
from launch.home import Home

# What a supervisor killed with -9 leaves is told to end at once; this long it may take (s).
_PATIENCE_S = 15.0


def clear(home: Home, report: Callable[[str, str], None]) -> None:
    """End the processes of an earlier run, and carry out the last step of a restore that was cut off."""
    if killed := orphans.end(str(home.folder), patience_s=_PATIENCE_S):
        report("supervisor", f"killed {killed} process(es) that an earlier run left behind")
    if last_step.finish(home):
        report("supervisor", "put the files of a restore in place that was cut off at its last step")
    for words in last_step.left(home):
        report("supervisor", words)


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
