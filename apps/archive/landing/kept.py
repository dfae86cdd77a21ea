"""What readers of a permanent id see of a campaign and what takes seconds to write: written once, and kept.

A text is read for as long as all that it was written from is the same: `sources`, the rows that it reads (`rows`),
the names that are hidden, the language, and the service's code. Whatever changes makes another digest, so that no
older text, and none that was written for others, is ever read. Whether somebody may read is asked before, each time.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import get_language

from apps.archive.landing.models import KeptText
from apps.archive.landing.redaction import Names
from apps.bench.text import Message, _
from apps.campaigns.models import Campaign
from apps.core.limits.fair_places import RETRY_AFTER_S, FairPlaces, Owners, PlacesTakenError
from apps.core.limits.policies import LimitExceededError
from apps.core.row_versions import versions_of

# A process writes one of a team at a time, and who waits longer asks again: who waits holds a place of all those who
# are not signed in.
writing = FairPlaces(2, wait_s=1.0)
_CODE = ("apps/**/*.py", "templates/**/*", "locale/**/*.mo")


@cache
def release() -> str:
    """Return a sum of the code, the templates and the translations that write texts."""
    paths = sorted(path for pattern in _CODE for path in settings.BASE_DIR.glob(pattern) if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def text_of(
    campaign: Campaign,
    names: Names,
    part: str,
    write: Callable[[], str],
    *,
    sources: object = None,
    rows: Sequence[QuerySet[Any]] = (),
) -> str:
    """Return a part of what is read of a campaign: as it was written from the same, or anew.

    LimitExceededError (429) if another text of the team is being written meanwhile.
    """
    content = json.dumps([sources, versions_of(*rows), names.digest, release()], sort_keys=True, default=str)
    digest = hashlib.sha256(content.encode()).hexdigest()
    place: dict[str, Any] = {
        "campaign": campaign,
        "part": part,
        "language": get_language() or "",
        "hidden": names.hidden,
    }
    stored = KeptText.objects.filter(**place, digest=digest).values_list("text", flat=True)
    text = stored.first()
    if text is not None:
        return text
    try:
        with writing.turn(Owners(f"texts of team {campaign.team_id}")):
            # Whoever was before may have written the same.
            text = stored.first()
            if text is None:
                text = write()
                if len(text) <= KeptText.MOST_CHARACTERS:
                    _keep(KeptText(**place, digest=digest, text=text, written_at=timezone.now()))
    except PlacesTakenError as error:
        wait = _("This is being written for its first readers. Try again in %(seconds)s s.")
        raise LimitExceededError(Message(wait), RETRY_AFTER_S) from error
    return text


def _keep(text: KeptText) -> None:
    """Store a text in the place of the one before it, whoever else does so at this moment."""
    unique = ["campaign", "part", "language", "hidden"]
    values = ["digest", "text", "written_at"]
    KeptText.objects.bulk_create([text], update_conflicts=True, unique_fields=unique, update_fields=values)
