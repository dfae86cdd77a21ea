"""Make a new edition of a result, and keep the one before it."""

import zlib
from datetime import datetime

from django.db import transaction

from apps.bench import strict_json
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign
from apps.core import immutability
from apps.results import services, validity
from apps.results.corrections import changes
from apps.results.corrections.changes import ResultChange
from apps.results.models import Result, Superseded


@transaction.atomic
def apply(change: ResultChange, *, reason: str, now: datetime) -> Result | None:
    """Put what was read again in the place of what was read before, which is kept; None if it no longer fits."""
    if change.before is None:
        return _recover(change, reason, now)
    result = Result.objects.select_for_update(no_key=True).get(pk=change.before.pk)
    if result.edition != change.before.edition:
        return None
    _keep(result, now)
    if change.reading is None:
        assert change.failure is not None
        text = _("Today's parser refuses what was printed: %(why)s")
        flag = Flag(changes.REFUSED, "invalid", Message(text, {"why": change.failure.message.as_json()}))
        result.flags = [*result.flags, flag.as_json()]
    else:
        _replace(result, change)
    result.edition += 1
    result.edition_reason, result.edition_at = reason, now
    result.save()
    _draw_conclusions_anew(change)
    return result


def _keep(result: Result, now: datetime) -> None:
    """Keep the present edition whole."""
    Superseded.objects.create(
        result=result,
        edition=result.edition,
        reading_z=zlib.compress(strict_json.dumps(changes.as_stored(result)).encode(), 9),
        reason=result.edition_reason,
        made_at=result.edition_at or result.recorded_at,
        superseded_at=now,
    )


def _replace(result: Result, change: ResultChange) -> None:
    assert change.reading is not None
    new = changes.plain(change.reading)
    result.tool_version, result.requested, result.granted = new["tool_version"], new["requested"], new["granted"]
    result.observed = changes.observed_of(new, change.before)
    result.flags = validity.with_mark(new["flags"], change.run.trial)
    result.start_skew_s = change.skew_s
    result.samples.all().delete()
    keeps_series = result.series_dropped_at is None
    if keeps_series:
        with immutability.letting_go():
            result.series.all().delete()
    services.store_figures(result, change.reading, with_series=keeps_series)


def _recover(change: ResultChange, reason: str, now: datetime) -> Result | None:
    if not campaigns.recover_run(run=change.run, now=now):
        return None
    result = services.record_run(run=change.run)
    result.edition_reason, result.edition_at = reason, now
    result.save(update_fields=["edition_reason", "edition_at"])
    _draw_conclusions_anew(change)
    return result


def _draw_conclusions_anew(change: ResultChange) -> None:
    ended = Campaign.objects.filter(pk=change.run.trial.campaign_id, analysed_at__isnull=False)
    ended.update(analysed_at=None)


def tell(*, campaign_id: int, count: int, reason: str) -> None:
    """Say in a campaign's log that results of it were read again."""
    text = _("Results read again, each as a new edition: %(count)s. %(reason)s")
    campaigns.write_event(campaign_id=campaign_id, message=Message(text, {"count": count, "reason": reason}))
