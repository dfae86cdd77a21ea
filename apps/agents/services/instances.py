"""Which process of an agent is at work: one at a time, however many copies of its folder or machine there are."""

import logging
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from apps.agents import wake
from apps.agents.models import LOST_AFTER, Agent, AgentInstance, AgentState, Job, Listener
from apps.agents.services import losses

logger = logging.getLogger(__name__)
# An agent can bring these lines about as often as it likes: of each one a minute is written.
_refused = logging.getLogger("fathom.refused")

# Rows of processes that are over, kept to be shown, and as many of such as were never let in.
KEPT = 20
_TAKEN_OVER = "another process took the agent's place"


@dataclass(frozen=True, kw_only=True)
class Introduction:
    """How a process of an agent introduces itself; see `AgentInstance` for what the members mean."""

    key: UUID
    machine: str = ""
    boot: str = ""
    folder: str = ""
    began_ns: int | None = None
    host: str = ""
    address: str = ""
    version: str = ""


class InstanceRefused(Exception):
    """Another process is at work for the node; the text says which, and what to do.

    `retry_after_s` is when (s) this one may be let in, if nothing is heard of the other until then.
    """

    def __init__(self, detail: str, *, retry_after_s: int) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


def admit_instance(*, agent_id: int, introduction: Introduction, now: datetime) -> AgentInstance:
    """Let a process work for its node, or raise InstanceRefused because another does.

    One takes over at once if it can only follow the other (it holds the same lock under the same kernel), or if the
    other said that it ends or introduced itself never; else when the other has been silent for LOST_AFTER.
    """
    with transaction.atomic():
        agent = _locked(agent_id)
        instance, is_new = AgentInstance.objects.update_or_create(
            agent=agent, key=introduction.key, defaults={**vars(introduction)}
        )
        current = agent.instance
        is_let_in = (
            current is None
            or current.pk == instance.pk
            or current.left_at is not None
            or (instance.can_only_follow(current) and instance.replaced_at is None)
            or is_silent(agent, now)
        )
        if is_let_in:
            _put_to_work(agent, instance, now)
            return instance
        # One that had the lock before is over: only its introduction comes late, and it is nobody's rival; but one
        # that asks again lives, as a copy of the machine with its memory does.
        asks_again = not is_new and instance.admitted_at is None
        if current is None or asks_again or not instance.ended_before(current):
            _refuse(instance, now)
    raise InstanceRefused(_words(agent, current, now), retry_after_s=_retry_after_s(agent, now))


def admit_unnamed(*, agent_id: int, now: datetime) -> None:
    """Let a program of an earlier version, which does not introduce itself, work; or raise InstanceRefused."""
    with transaction.atomic():
        agent = _locked(agent_id)
        current = agent.instance
        if current is None:
            return
        if current.left_at is not None or is_silent(agent, now):
            _put_to_work(agent, None, now)
            return
        text = "A program of an earlier version asks for jobs of %s, too: it gets none"
        _refused.warning(text, agent.node, extra={"about": agent.pk})
    raise InstanceRefused(_words(agent, current, now), retry_after_s=_retry_after_s(agent, now))


def leave_instance(*, agent_id: int, key: UUID, now: datetime) -> None:
    """Keep that the process at work ends: another may begin at once."""
    AgentInstance.objects.filter(agent=agent_id, key=key, left_at=None).update(left_at=now, updated_at=now)


@transaction.atomic
def choose_instance(*, agent: Agent, key: UUID, now: datetime) -> AgentInstance:
    """Put the process to work that a manager says is the right one; ValidationError for one that is unknown.

    Jobs of the other one are lost, and what they use is fenced until their time limits.
    """
    agent = _locked(agent.pk)
    instance = AgentInstance.objects.filter(agent=agent, key=key).first()
    if instance is None:
        raise ValidationError({"instance": _("There is no such process of this agent: see which there are.")})
    if agent.instance_id != instance.pk:
        has_ended = agent.instance is None or agent.instance.left_at is not None or is_silent(agent, now)
        _put_to_work(agent, instance, now, has_ended=has_ended)
    return instance


def note_refused_report(*, node_id: int, key: UUID | None, job_id: UUID, now: datetime) -> bool:
    """Keep that a process reported a job that another took; False if it never introduced itself here."""
    if key is not None:
        instance = AgentInstance.objects.filter(agent__node=node_id, key=key)
        if not instance.update(refused_reports=F("refused_reports") + 1, refused_last_at=now):
            return False
    text = "A report on job %s came from a process that did not take it: it is not counted"
    _refused.warning(text, job_id, extra={"about": f"reports of {node_id}"})
    return True


def is_silent(agent: Agent, now: datetime) -> bool:
    """Return whether nothing is heard of an agent: it is lost, or was never heard."""
    agent = Agent.objects.annotate(late_at=Agent.late()).get(pk=agent.pk)
    state = agent.state(lost_before=Listener.lost_before(now), busy=False)
    return state in (AgentState.LOST, AgentState.NEVER_SEEN)


def _locked(agent_id: int) -> Agent:
    agents = Agent.objects.select_for_update(no_key=True, of=("self",))
    return agents.select_related("node", "instance").get(pk=agent_id)


def _put_to_work(agent: Agent, instance: AgentInstance | None, now: datetime, *, has_ended: bool = True) -> None:
    before = agent.instance
    if instance is not None:
        instance.admitted_at = instance.admitted_at or now
        instance.refused_at = instance.refused_last_at = instance.left_at = instance.replaced_at = None
        instance.save()
    if before is not None and instance is not None and before.pk == instance.pk:
        return
    agent.instance = instance
    # Heard just now: a third is not let in before the heartbeat is written.
    agent.last_seen_at = now
    agent.save(update_fields=["instance", "last_seen_at", "updated_at"])
    if before is not None:
        AgentInstance.objects.filter(pk=before.pk).update(replaced_at=now, updated_at=now)
    _hand_over(agent, before, instance, now, has_ended=has_ended)
    _forget_old(agent)
    wake.look_again(agent.node_id)
    logger.info("The agent of %s is now %s, before it %s", agent.node, instance or "unnamed", before or "unnamed")


def _hand_over(
    agent: Agent, before: AgentInstance | None, after: AgentInstance | None, now: datetime, *, has_ended: bool
) -> None:
    """Give the open jobs of one process to the next if that has its folder, and with it its spool; else lose them.

    Those of one that has not ended as far as anybody knows are lost in any case.
    """
    jobs = Job.objects.filter(node_id=agent.node_id)
    opened = jobs.filter(state__in=Job.OPEN_STATES).exclude(state=Job.State.QUEUED)
    key = after.key if after is not None else None
    follows = before is None or after is None or after.can_only_follow(before)
    if follows or (before is not None and after is not None and has_ended and after.has_folder_of(before)):
        opened.update(instance=key, taken_at_poll=0, updated_at=now)
        # What lost ones printed may be on the spool still, however long ago their time was over.
        lost = jobs.filter(state=Job.State.LOST, instance=before.key if before is not None else None)
        if not follows:
            # The machine was started anew, as it seems: nothing of what ran on it can run now.
            lost.filter(may_run_until__gt=now).update(presumed_ended_at=now)
        lost.update(instance=key, taken_at_poll=0)
        return
    losses.lose_jobs(jobs=opened, fault="agent-lost", detail=_TAKEN_OVER, now=now)


def _refuse(instance: AgentInstance, now: datetime) -> None:
    if instance.refused_at is None:
        text, agent = "A second process of the agent of %s is refused: %s", instance.agent
        _refused.warning(text, agent.node, instance, extra={"about": agent.pk})
    instance.refused_at = instance.refused_at or now
    instance.refused_last_at = now
    instance.save(update_fields=["refused_at", "refused_last_at", "updated_at"])
    # However many ask, those that once were at work, and are refused because another took their place, stay known.
    _forget_all_but_last(AgentInstance.objects.filter(agent=instance.agent_id, admitted_at=None))


def _forget_old(agent: Agent) -> None:
    over = AgentInstance.objects.filter(agent=agent)
    if agent.instance_id is not None:
        over = over.exclude(pk=agent.instance_id)
    _forget_all_but_last(over)


def _forget_all_but_last(over: QuerySet[AgentInstance]) -> None:
    over.filter(pk__in=list(over.order_by("-updated_at").values_list("pk", flat=True)[KEPT:])).delete()


def _retry_after_s(agent: Agent, now: datetime) -> int:
    """Return in how many whole s the process at work has been silent for LOST_AFTER, if it is from now on."""
    silence = now - agent.last_seen_at if agent.last_seen_at else timedelta()
    remaining = min(max(LOST_AFTER - silence, timedelta()), LOST_AFTER)
    return math.floor(remaining.total_seconds()) + 1


def _words(agent: Agent, current: AgentInstance | None, now: datetime) -> str:
    """Return, in English as all that agents log, who works already and what to do."""
    silence = now - agent.last_seen_at if agent.last_seen_at else timedelta()
    return (
        f"Another process with this agent's identity works for {agent.node}: {current or '?'}, "
        f"heard {silence.total_seconds():.0f} s ago. This one gets no jobs until that one has been silent for "
        f"{LOST_AFTER.total_seconds():.0f} s, or a manager says on the agent's page which machine is right. "
        "If this is a copy of a machine or folder, stop it here, remove its agent.json and enrol it as a node of its "
        "own."
    )
