"""The trials of a campaign, made when it starts."""

import itertools
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from apps.accounts import quotas
from apps.bench import strict_json, sweep
from apps.bench.text import Message, _
from apps.campaigns import errors, live, readiness
from apps.campaigns.checks import expand_checked
from apps.campaigns.estimation import Estimator
from apps.campaigns.expansion import Expansion
from apps.campaigns.models import Campaign, Experiment, Lane, Trial
from apps.campaigns.services.events import Level, write_event
from apps.core import queue

# Each experiment of a campaign with what it comes to.
Expanded = list[tuple[Experiment, Expansion]]
BATCH = 2000
# Of a new trial; those not named are null.
COLUMNS = (
    "created_at", "updated_at", "campaign_id", "experiment_id", "lane_id", "position", "point",
    "repetition", "is_warmup", "parameters", "estimate_s", "state",
    "attempts", "attempts_allowed",
)  # fmt: skip


def expand_campaign(campaign: Campaign) -> Expanded:
    """Return what each experiment comes to; errors.Refused names the experiment and the field that is wrong."""
    experiments = campaign.experiments.select_related("file_system", "after").prefetch_related(
        "roles__node", "roles__cluster__nodes"
    )
    estimator = Estimator()
    expanded = [(experiment, _expand(experiment, estimator)) for experiment in experiments]
    if not expanded:
        raise errors.Refused({"experiments": Message(_("There is nothing to measure yet: add an experiment."))})
    return expanded


@transaction.atomic
def start_trials(*, campaign: Campaign, expanded: Expanded, now: datetime, who: str = "") -> None:
    """Make the lanes and trials of a campaign and let it run; errors.Refused if its team has stored more than it may,
    or its nodes would call an address that does not count.

    Experiments that wait for others get theirs when their turn comes (`stages`).
    """
    if over := quotas.refusal_to_store(campaign.team):
        raise errors.Refused({"quota": over})
    require_addresses(expanded)
    estimator = Estimator()
    for experiment, expansion in expanded:
        if experiment.after is None:
            make_trials(experiment, [expansion], estimator, now)
    campaign.experiments.filter(after=None).update(expanded_at=now)
    campaign.state, campaign.launched_at, campaign.next_at = Campaign.State.RUNNING, now, None
    campaign.save(update_fields=["state", "launched_at", "next_at", "updated_at"])
    _write_start(campaign, expanded, who)
    for warning in readiness.warnings(expansions=[expansion for _experiment, expansion in expanded], now=now):
        write_event(campaign_id=campaign.pk, level=Level.WARNING, message=warning)
    live.publish(campaign.pk, "campaign")
    queue.send(queue.SCHEDULE)


def require_addresses(expanded: Expanded) -> None:
    """Raise errors.Refused where nodes would call an address that nobody answers for: they would refuse to."""
    if refused := readiness.refusals(expansions=[expansion for _experiment, expansion in expanded]):
        raise errors.Refused({"addresses": refused})


def _expand(experiment: Experiment, estimator: Estimator) -> Expansion:
    try:
        return expand_checked(experiment, experiment.roles.all(), estimator=estimator)
    except errors.Refused as refused:
        raise refused.within(experiment.name) from None


def make_trials(experiment: Experiment, expansions: Sequence[Expansion], estimator: Estimator, now: datetime) -> None:
    """Make the lanes and trials of one experiment; points of different expansions have different numbers."""
    casts = [(expansion, cast) for expansion in expansions for cast in expansion.casts]
    lanes = Lane.objects.bulk_create(
        [
            Lane(experiment=experiment, roles=cast.as_ids(), resources=estimator.resources_of(expansion, cast))
            for expansion, cast in casts
        ],
        batch_size=BATCH,
    )
    parameters = [strict_json.dumps(point) for expansion in expansions for point in expansion.points]
    firsts = itertools.accumulate((len(expansion.points) for expansion in expansions), initial=0)
    first_point = {id(expansion): first for expansion, first in zip(expansions, firsts, strict=False)}
    # (lane, point, seconds) of all that is to be measured.
    cells: list[Any] = [
        (lane.pk, point, seconds)
        for lane, (expansion, cast) in zip(lanes, casts, strict=True)
        for point, seconds in enumerate(estimator.durations_of(expansion, cast), start=first_point[id(expansion)])
    ]
    # In the order of their positions: the primary keys then follow it, too.
    planned = sorted(sweep.schedule_trials(cells, expansions[0].spec), key=lambda trial: trial.position)
    places = ((trial, *cells[trial.point_index]) for trial in planned)
    _copy_in(
        (
            (now, now, experiment.campaign_id, experiment.pk, lane, trial.position, point, trial.repetition,
             trial.is_warmup, parameters[point], seconds, Trial.State.PENDING.value, 0, experiment.max_attempts)
            for trial, lane, point, seconds in places
        )
    )  # fmt: skip


def _copy_in(rows: Iterable[tuple[object, ...]]) -> None:
    """Insert trials, each a value for each of COLUMNS, by COPY: a hundred thousand take seconds."""
    statement = f"COPY {Trial._meta.db_table} ({', '.join(COLUMNS)}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _write_start(campaign: Campaign, expanded: Expanded, who: str) -> None:
    count = sum(expansion.trials for experiment, expansion in expanded if experiment.after is None)
    text = _("Launched by %(user)s; trials: %(count)s.") if who else _("Launched; trials: %(count)s.")
    write_event(campaign_id=campaign.pk, message=Message(text, {"user": who, "count": count}))
    for experiment, expansion in expanded:
        if experiment.after is not None:
            text = _("%(experiment)s waits for %(earlier)s.")
            names = {"experiment": experiment.name, "earlier": experiment.after.name}
            write_event(campaign_id=campaign.pk, message=Message(text, names))
        if expansion.left_out:
            text = _("%(experiment)s: combinations left out, as one node would play two roles in them: %(count)s.")
            values = {"experiment": experiment.name, "count": expansion.left_out}
            write_event(campaign_id=campaign.pk, message=Message(text, values))
