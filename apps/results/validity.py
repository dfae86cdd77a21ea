"""Trials that a person does not believe: shown as before, but left out of every statistic until that is undone."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag
from apps.campaigns import live
from apps.campaigns.errors import Refused, WrongState
from apps.campaigns.models import Campaign, Trial
from apps.campaigns.services import require_writer, write_event
from apps.core.names import check_seen_in
from apps.results.models import Result

# The name of the flag that such a trial's results carry.
MARK = "marked-invalid"
LONGEST_REASON = 500


@transaction.atomic
def mark_invalid(*, trial: Trial, user: User, reason: str, now: datetime) -> Trial:
    """Leave the trial's figures out of all statistics, for a reason; Refused without one, or without figures."""
    trial = _lock(trial, user)
    words = reason.strip()
    if not words:
        raise Refused({"reason": Message(_("Say why: whoever reads the results wants to know."))})
    if len(words) > LONGEST_REASON:
        text = _("The reason is too long: %(most)s characters at most.")
        raise Refused({"reason": Message(text, {"most": LONGEST_REASON})})
    check_seen_in("reason", words)
    if not Result.objects.filter(trial=trial).exists():
        raise WrongState(Message(_("The trial has no figures that could be left out.")))
    trial.invalid_at, trial.invalid_by, trial.invalid_reason = now, user, words
    trial.invalid_told_by = ""
    return _keep(trial, user, _("%(user)s marked trial %(trial)s invalid: %(reason)s"), reason=words)


@transaction.atomic
def unmark_invalid(*, trial: Trial, user: User) -> Trial:
    """Count the trial's figures again."""
    trial = _lock(trial, user)
    if trial.invalid_at is None:
        raise WrongState(Message(_("The trial is not marked invalid.")))
    trial.invalid_at, trial.invalid_by, trial.invalid_reason = None, None, ""
    trial.invalid_told_by = ""
    return _keep(trial, user, _("%(user)s counts trial %(trial)s again."))


def with_mark(flags: list[dict[str, Any]], trial: Trial) -> list[dict[str, Any]]:
    """Return a result's flags as they have to be for what a person says of its trial now."""
    own = [flag for flag in flags if flag["name"] != MARK]
    if trial.invalid_at is None:
        return own
    by = trial.invalid_by.get_username() if trial.invalid_by else trial.invalid_told_by or "–"
    message = Message(_("%(user)s marked it invalid: %(reason)s"), {"user": by, "reason": trial.invalid_reason})
    return [*own, Flag(MARK, "invalid", message).as_json()]


def _lock(trial: Trial, user: User) -> Trial:
    held = Trial.objects.select_for_update(no_key=True, of=("self",)).select_related("campaign").get(pk=trial.pk)
    # The campaign is not held: a worker that has it takes trials of it.
    require_writer(held.campaign, user)
    return held


def _keep(trial: Trial, user: User, text: str, **values: str) -> Trial:
    trial.save(update_fields=["invalid_at", "invalid_by", "invalid_told_by", "invalid_reason", "updated_at"])
    for result in Result.objects.select_for_update(no_key=True).filter(trial=trial):
        result.flags = with_mark(result.flags, trial)
        result.save(update_fields=["flags"])
    # Conclusions were drawn from other figures: they are drawn anew.
    Campaign.objects.filter(pk=trial.campaign_id, analysed_at__isnull=False).update(analysed_at=None)
    message = Message(text, {"user": user.get_username(), "trial": trial.pk, **values})
    write_event(campaign_id=trial.campaign_id, trial_id=trial.pk, message=message)
    live.publish(trial.campaign_id, "trial", experiment=trial.experiment_id, trial=trial.pk)
    return trial
