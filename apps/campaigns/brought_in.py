"""Who brought something in from an archive, and what that says it is, for all that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _


@dataclass(frozen=True)
class BroughtIn:
    """By whom (user name, "" if that is hidden) and when something came, and the id and the author that it says.

    `at` is None of what came before that was kept; `is_known` says whether it agrees with what was known here.
    """

    by: str
    at: datetime | None
    permanent_id: str
    made_by: str
    is_known: bool = False

    @property
    def text(self) -> str:
        """Return it in the reader's language: "Brought in by sop on 2026-11-26 14:22 UTC from an archive …"."""
        when = f"{self.at:%Y-%m-%d %H:%M} UTC" if self.at else "–"
        parts = [_("Brought in by %(user)s on %(when)s from an archive.") % {"user": self.by or "–", "when": when}]
        if self.permanent_id:
            parts.append(_("According to the archive it is %(id)s.") % {"id": self.permanent_id})
        if self.made_by:
            parts.append(_("According to the archive it is by %(name)s.") % {"name": self.made_by})
        return " ".join(parts)


def read(kept: Mapping[str, Any], *, is_hidden: bool = False) -> BroughtIn | None:
    """Return what a `brought_in` column says, None of what was made here; `is_hidden` keeps people's names back."""
    if not kept:
        return None
    by, made_by = ("", "") if is_hidden else (kept.get("by", ""), kept.get("made_by", ""))
    at = parse_datetime(kept["at"]) if kept.get("at") else None
    return BroughtIn(by, at, kept.get("id", ""), made_by, bool(kept.get("agrees")))


def write(*, by: str, at: datetime, permanent_id: str, made_by: str) -> dict[str, str]:
    """Return the column of what comes in: `read` has the meanings."""
    return {"by": by, "at": at.isoformat(), "id": permanent_id, "made_by": made_by}
