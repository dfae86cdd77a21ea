"""Two people at one form: what the other saved meanwhile is shown, and is not undone unseen.

A form of a thing that is there carries a *version*: a digest of each of its fields as it was shown (`guard`). When
it is sent, the thing is held, its fields as they now are are compared with those (`refuse_stale`), and where they
differ the form comes back with what was typed, what changed meanwhile, who did it, and a button to save over it.
"""

from apps.core.editing.changes import LastEdit, forget_changes, last_change_of, note_change
from apps.core.editing.conflicts import EditConflict, FieldConflict
from apps.core.editing.forms import conflict_page, guard, page_conflict, refuse_stale
from apps.core.editing.pages import GuardedPage
from apps.core.editing.versions import OVER, VERSION, differing, version_of

__all__ = [
    "OVER",
    "VERSION",
    "EditConflict",
    "FieldConflict",
    "GuardedPage",
    "LastEdit",
    "conflict_page",
    "differing",
    "forget_changes",
    "guard",
    "last_change_of",
    "note_change",
    "page_conflict",
    "refuse_stale",
    "version_of",
]
