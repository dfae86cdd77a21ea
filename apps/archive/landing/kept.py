"""What readers of a permanent id see of a campaign and what takes seconds to write: written once, and kept.

A text is read for as long as all that it was written from is the same: `sources`, the rows that it reads (`rows`),
the names that are hidden, the language, and the service's code. Whatever changes makes another digest, so that no
older text, and none that was written for others, is ever read. Whether somebody may read is asked before, each time.

Of what is measured (`measured`), which changes at each look while a campaign runs, the text of a few seconds ago is
read: who looks again and again would else have it written each time.
"""

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet, Sum, Window
from django.utils import timezone
from django.utils.translation import get_language

from apps.archive.landing.models import KeptText
from apps.archive.landing.redaction import Names
from apps.archive.landing.turns import turn
from apps.bench import strict_json
from apps.campaigns.models import Campaign
from apps.core import isolation
from apps.core.limits.fair_places import FairPlaces
from apps.core.octets import OctetLength
from apps.core.row_versions import versions_of

# A process writes one of a team at a time, and who waits longer asks again: who waits holds a place of all those who
# are not signed in.
writing = FairPlaces(2, wait_s=1.0)
# How old what was measured may be in what is read.
STAYS_FOR = timedelta(seconds=10)
FORGOTTEN_AFTER = timedelta(days=30)
# Of all texts of a team.
MOST_TEAM_BYTES = 128 * 1024 * 1024
FORGET = "forget_texts"
# So many at a time; what is left then is seen to the next time.
_MOST = 1000
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
    measured: Sequence[QuerySet[Any]] = (),
) -> str:
    """Return a part of what is read of a campaign: as it was written from the same, or anew.

    LimitExceededError (429) if another text of the team is being written meanwhile.
    """
    basis = _sum([sources, versions_of(*rows), names.digest, release()])
    place: dict[str, Any] = {
        "campaign": campaign,
        "part": part,
        "language": get_language() or "",
        "hidden": names.hidden,
    }
    texts = KeptText.objects.filter(**place, digest__startswith=basis)
    text = _recent(texts)
    if text is not None:
        return text
    digest = basis + _sum(versions_of(*measured))
    text = _same(texts, digest)
    if text is not None:
        return text
    with turn(writing, f"texts of team {campaign.team_id}"):
        # Whoever was before may have written it.
        text = _recent(texts)
        if text is None:
            text = write()
            if len(text) <= KeptText.MOST_CHARACTERS:
                _keep(KeptText(**place, digest=digest, text=text, written_at=timezone.now()))
    return text


def _sum(content: object) -> str:
    text = strict_json.dumps(content, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=KeptText.SUM_CHARACTERS // 2).hexdigest()


def _same(texts: QuerySet[KeptText], digest: str) -> str | None:
    return texts.filter(digest=digest).values_list("text", flat=True).first()


def _recent(texts: QuerySet[KeptText]) -> str | None:
    now = timezone.now()
    # Nothing that a clock wrote which was ahead.
    return texts.filter(written_at__range=(now - STAYS_FOR, now)).values_list("text", flat=True).first()


def _keep(text: KeptText) -> None:
    """Store a text in the place of the one before it, whoever else does so at this moment."""
    unique = ["campaign", "part", "language", "hidden"]
    values = ["digest", "text", "written_at"]
    KeptText.objects.bulk_create([text], update_conflicts=True, unique_fields=unique, update_fields=values)
    of_team = KeptText.objects.filter(campaign__team=text.campaign.team_id)
    KeptText.objects.filter(pk__in=list(_beyond_total(of_team))).delete()


def _beyond_total(texts: QuerySet[KeptText]) -> QuerySet[KeptText, int]:
    """Return the keys of the oldest texts of each team, those that it has beyond MOST_TEAM_BYTES."""
    newest_first = [F("written_at").desc(), F("pk").desc()]
    total = Window(Sum(OctetLength("text")), partition_by=F("campaign__team"), order_by=newest_first)
    return texts.annotate(total=total).filter(total__gt=MOST_TEAM_BYTES).values_list("pk", flat=True)


def forget(*, now: datetime) -> None:
    """Forget texts that were written long ago, those of what is public no more, and what a team has too many of."""
    needless = Q(written_at__lt=now - FORGOTTEN_AFTER) | ~Q(campaign__visibility=Campaign.Visibility.PUBLIC)
    texts = KeptText.objects.order_by("written_at")
    gone = [*texts.filter(needless).values_list("pk", flat=True)[:_MOST], *_beyond_total(texts)[:_MOST]]
    isolation.for_each(FORGET, dict.fromkeys(gone), lambda pk: texts.filter(pk=pk).delete(), now=now)
