"""Find why campaigns, and trials of them, wait."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from apps.campaigns.due import is_put_off
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.campaigns.queries.stages import waiting as waiting_experiments
from apps.campaigns.queries.visibility import Person
from apps.campaigns.waits import facts as reading
from apps.campaigns.waits.facts import Holder, WaitFacts, WaitingLane
from apps.campaigns.waits.reasons import WaitReason, Waits, WaitSubject, reason

State = Campaign.State
# Reasons that only mean that a campaign's own trials take their turns.
_TURNS = ("queue", "in-use")
# Reasons that pass by themselves within moments: worth a word only if nothing else goes on.
_PASSING = ("retry", "due")
# Where the service finds its broker, in the words of the client: readers are not told.
_ADDRESS = re.compile(r" (?:to |from )?(?:unix socket:? ?)?\S*[/:]\S+")


@dataclass
class _Gathered:
    """The trials of a campaign that wait for the same kind of thing."""

    subjects: set[WaitSubject] = field(default_factory=set)
    since: list[datetime] = field(default_factory=list)
    until: list[datetime] = field(default_factory=list)
    trials: int = 0


def waits_of(campaigns: Sequence[Campaign], user: Person, now: datetime) -> dict[int, Waits]:
    """Return what each campaign waits for at `now`, in as many queries for many campaigns as for one.

    `user` is who reads it: what holds something is named only if they may see it.
    """
    running = [campaign.pk for campaign in campaigns if campaign.state == State.RUNNING]
    paused = [campaign.pk for campaign in campaigns if campaign.state == State.PAUSED]
    busy = reading.runs_under_way([*running, *paused]) if running or paused else set()
    pauses = reading.pauses(paused) if paused else {}
    waits: dict[int, Waits] = {campaign.pk: Waits() for campaign in campaigns}
    waits |= {pk: Waits((_paused(pauses.get(pk)),), is_idle=pk not in busy) for pk in paused}
    waits |= {
        campaign.pk: Waits((reason("scheduled", until=campaign.next_at),), is_idle=True)
        for campaign in campaigns
        if campaign.state == State.SCHEDULED
    }
    return waits | (_waits_of_running(running, busy, user, now) if running else {})


def attach_waits(campaigns: Sequence[Campaign], user: Person, now: datetime) -> None:
    """Give each campaign its `waits`."""
    waits = waits_of(campaigns, user, now)
    for campaign in campaigns:
        campaign.waits = waits[campaign.pk]


def attach_trial_waits(trials: Sequence[Trial], user: Person, now: datetime) -> None:
    """Give each trial its `wait`, a WaitReason, or None where it does not wait."""
    waits = waits_of_trials(trials, user, now)
    for trial in trials:
        trial.wait = waits.get(trial.pk)


def waits_of_trials(trials: Sequence[Trial], user: Person, now: datetime) -> dict[int, WaitReason]:
    """Return {id of a trial: why it waits at `now`}, in a number of queries that does not depend on how many wait."""
    pending = [trial for trial in trials if trial.state == Trial.State.PENDING]
    if not pending:
        return {}
    states = dict(Campaign.objects.filter(pk__in={trial.campaign_id for trial in pending}).values_list("pk", "state"))
    paused = reading.pauses([pk for pk, state in states.items() if state == State.PAUSED])
    waits = {
        trial.pk: _paused(paused.get(trial.campaign_id))
        for trial in pending
        if states[trial.campaign_id] == State.PAUSED
    }
    started = [trial for trial in pending if states[trial.campaign_id] == State.RUNNING]
    return waits | (_waits_of_started(started, user, now) if started else {})


def _waits_of_started(trials: Sequence[Trial], user: Person, now: datetime) -> dict[int, WaitReason]:
    campaigns = {trial.campaign_id for trial in trials}
    facts = reading.read_facts(campaigns=campaigns, user=user, now=now, lanes={trial.lane_id for trial in trials})
    places, ended = reading.places_in_queue(trials), reading.ended_attempts(trials)
    waits = {}
    for trial in trials:
        lane = facts.lanes.get(trial.lane_id)
        # None: it was started between one query and the next.
        if lane is None:
            continue
        place = places.get(trial.pk, 0)
        if blocked := _blocking_reason(facts, lane):
            waits[trial.pk] = blocked
        elif trial.not_before and is_put_off(trial, now):
            waits[trial.pk] = reason("retry", until=trial.not_before, since=ended.get(trial.pk))
        elif place:
            waits[trial.pk] = reason("queue", ahead=place)
        else:
            waits[trial.pk] = _own_reason(facts, lane) or reason("due")
    return waits


def _waits_of_running(
    campaigns: Collection[int], busy: Collection[int], user: Person, now: datetime
) -> dict[int, Waits]:
    facts = reading.read_facts(campaigns=campaigns, user=user, now=now)
    gathered: dict[int, dict[tuple[object, ...], tuple[WaitReason, _Gathered]]] = {pk: {} for pk in campaigns}
    for lane in facts.lanes.values():
        why = _lane_reason(facts, lane)
        if why.code in _TURNS:
            continue
        key = (why.code, why.campaign)
        _first, group = gathered[lane.campaign].setdefault(key, (why, _Gathered()))
        group.subjects.update(why.subjects)
        group.since += [why.since] if why.since else []
        group.until += [why.until] if why.until else []
        group.trials += lane.trials
    without = [pk for pk in campaigns if not gathered[pk] and pk not in busy]
    stages = _stage_reasons(without) if without else {}
    return {
        pk: Waits(_ordered(groups.values(), pk in busy) or stages.get(pk, ()), is_idle=pk not in busy)
        for pk, groups in gathered.items()
    }


def _ordered(groups: Collection[tuple[WaitReason, _Gathered]], is_busy: bool) -> tuple[WaitReason, ...]:
    """Return the reasons of a campaign: first what ends we know not when, then by how many trials it keeps."""
    reasons = [_joined(why, group) for why, group in groups]
    lasting = [why for why in reasons if why.code not in _PASSING]
    telling = lasting if lasting or is_busy else reasons
    return tuple(sorted(telling, key=lambda why: (why.is_bounded, -why.trials, why.code)))


def _joined(why: WaitReason, group: _Gathered) -> WaitReason:
    return replace(
        why,
        subjects=tuple(sorted(group.subjects, key=lambda each: (each.kind, each.name, each.pk))),
        since=min(group.since, default=None),
        until=min(group.until, default=None),
        trials=group.trials,
    )


def _lane_reason(facts: WaitFacts, lane: WaitingLane) -> WaitReason:
    """Return why the first trial of a lane waits."""
    blocked = _blocking_reason(facts, lane)
    if why := blocked or _own_reason(facts, lane):
        return why
    return reason("due") if lane.due else reason("retry", until=lane.next_at)


def without_addresses(words: str) -> str:
    """Return the words of a client of the broker, without where it looked for that."""
    return _ADDRESS.sub("", words)


def _blocking_reason(facts: WaitFacts, lane: WaitingLane) -> WaitReason | None:
    """Return what keeps all trials of a lane, None if only their turns do."""
    reasons = (_stop_reason, _tool_reason, _node_reason, _foreign_reason)
    return next((why for find in reasons if (why := find(facts, lane))), None)


def _tool_reason(facts: WaitFacts, lane: WaitingLane) -> WaitReason | None:
    """Return that no manager has taken over the lane's tool."""
    if lane.tool not in facts.awaiting:
        return None
    subjects = (WaitSubject("tool", facts.awaiting[lane.tool], lane.tool),)
    # Found by the next look of the timetable, if the log does not say it yet.
    since = facts.awaited_since.get((lane.campaign, lane.tool), facts.now)
    return reason("tool", subjects=subjects, since=_since(lane, [since]))


def _stop_reason(facts: WaitFacts, lane: WaitingLane) -> WaitReason | None:
    """Return that no work can be handed out, whatever else the lane waits for."""
    if facts.stop is None:
        return None
    if facts.stop.part == "database":
        return reason("database", since=_since(lane, [facts.stop.since]))
    words = without_addresses(facts.stop.words).rstrip(".")
    return reason("broker", since=_since(lane, [facts.stop.since]), words=words)


def _node_reason(facts: WaitFacts, lane: WaitingLane) -> WaitReason | None:
    """Return what the lane's nodes lack: of several kinds the one that stands first among the nodes."""
    codes = [facts.obstacles[node].code for node in lane.nodes if node in facts.obstacles]
    if not codes:
        return None
    alike = {node: facts.obstacles[node] for node in lane.nodes if node in facts.obstacles}
    alike = {node: obstacle for node, obstacle in alike.items() if obstacle.code == codes[0]}
    first = next(iter(alike.values()))
    return WaitReason(
        code=first.code,
        text_id=first.text,
        subjects=tuple(
            WaitSubject("node", node, facts.names.get(f"node:{node}", str(node)), obstacle.heard_at)
            for node, obstacle in alike.items()
        ),
        since=_since(lane, [obstacle.since for obstacle in alike.values() if obstacle.since]),
        until=first.until,
        is_bounded=first.until is not None,
    )


def _foreign_reason(facts: WaitFacts, lane: WaitingLane) -> WaitReason | None:
    """Return what is kept back of what the lane needs, or which other campaign holds it."""
    if fenced := _fence_reason(facts, lane):
        return fenced
    holders = [holder for holder in _holders(facts, lane) if holder.campaign != lane.campaign]
    if not holders:
        return None
    holder = holders[0].campaign
    other_campaign = facts.campaigns[holder]
    subjects = _subjects(facts, [each for each in holders if each.campaign == holder])
    since = _since(lane, [each.since for each in holders if each.campaign == holder])
    if other_campaign.name is not None:
        return reason("reserved", subjects=subjects, since=since, campaign=holder, holder=other_campaign.name)
    return reason(
        "reserved-private" if other_campaign.is_own else "reserved-other-team", subjects=subjects, since=since
    )


def _fence_reason(facts: WaitFacts, lane: WaitingLane) -> WaitReason | None:
    """Return what is kept back for a program on a node whose agent fell silent, and until when at most."""
    fenced = [holder for holder in _holders(facts, lane) if holder.fenced_until]
    if not fenced:
        return None
    until = max(holder.fenced_until for holder in fenced if holder.fenced_until)
    return reason("fenced", subjects=_subjects(facts, fenced), until=until)


def _own_reason(facts: WaitFacts, lane: WaitingLane) -> WaitReason | None:
    """Return which trial of the same campaign uses what the lane needs."""
    holders = list(_holders(facts, lane))
    if not holders:
        return None
    used = [each for each in holders if each.trial == holders[0].trial]
    return reason(
        "in-use", subjects=_subjects(facts, used), since=used[0].since, campaign=lane.campaign, trial=used[0].trial
    )


def _since(lane: WaitingLane, began: Sequence[datetime]) -> datetime | None:
    """Return since when a lane waits for what began at these times, or was never otherwise if there are none.

    That is not before there was something to start.
    """
    first = min(began, default=lane.begun)
    return max(first, lane.begun) if first and lane.begun else first


def _holders(facts: WaitFacts, lane: WaitingLane) -> Iterator[Holder]:
    return (facts.holders[key] for key in lane.resources if key in facts.holders)


def _subjects(facts: WaitFacts, holders: Sequence[Holder]) -> tuple[WaitSubject, ...]:
    return tuple(WaitSubject(*facts.name_of(holder.resource)) for holder in holders)


def _stage_reasons(campaigns: Collection[int]) -> dict[int, tuple[WaitReason, ...]]:
    """Return what keeps campaigns of which no trial is left: experiments whose turn is about to come."""
    reasons: dict[int, tuple[WaitReason, ...]] = {}
    rows = waiting_experiments().filter(campaign__in=campaigns).select_related("after").order_by("position", "pk")
    for experiment in rows:
        earlier: Experiment | None = experiment.after
        if earlier is not None:
            why = reason("stage", subjects=(WaitSubject("experiment", earlier.pk, earlier.name),))
            reasons.setdefault(experiment.campaign_id, (why,))
    return reasons


def _paused(pause: tuple[datetime, str] | None) -> WaitReason:
    since, user = pause or (None, "–")
    return reason("paused", since=since, user=user)
