"""How a freshly started agent becomes the agent of a node, and how it ceases to be."""

from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts import quotas, rights
from apps.accounts.models import Role, User
from apps.accounts.services import locked
from apps.agents import wake
from apps.agents.models import Agent, EnrolmentToken, Job
from apps.agents.services import losses
from apps.core import audit, secrets
from apps.core.errors import ConflictError
from apps.core.limits import owned
from apps.testbeds.models import Node

TOKEN_LIFETIME = timedelta(hours=1)
_AGAIN = "make a new one on the node's agent page."


class EnrolmentRefused(Exception):
    """An enrolment that may not be; `code` is for programs, the text says what to do."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True)
class IssuedEnrolment:
    """A new enrolment token; `text` is shown once and kept nowhere."""

    token: EnrolmentToken
    text: str


@transaction.atomic
def issue_enrolment_token(*, node: Node, user: User, now: datetime) -> IssuedEnrolment:
    """Make a token that enrols one agent on `node` within the hour.

    ConflictError if the node has an agent, or its team has as many in service as it may.
    """
    agent = Agent.objects.filter(node=node).first()
    if agent and not agent.is_replaceable:
        text = _("%(node)s already has an agent: retire it first, then its replacement can be enrolled.")
        raise ConflictError(text % {"node": node})
    # Of a copy: the node of whoever asks must not take the agent that is only counted here for its own.
    owned.require_room([Agent(pk=agent.pk if agent else None, node=copy(node))])
    quotas.charge_enrolment(node.team)
    issued = secrets.issue("enrol")
    token = EnrolmentToken.objects.create(
        node=node, prefix=issued.prefix, digest=issued.digest, created_by=user, expires_at=now + TOKEN_LIFETIME
    )
    return IssuedEnrolment(token, issued.text)


@dataclass(frozen=True)
class OwnToken:
    """What is known of a token that an agent drew for itself; its text is known to nobody else."""

    prefix: str
    digest: str


@transaction.atomic
def enrol_agent(*, token_text: str, version: str, now: datetime, own: OwnToken | None = None) -> tuple[Agent, str]:
    """Spend an enrolment token; return the node's agent and its new token, which is kept nowhere.

    With `own` the agent has its token already, and "" is returned. Then it may ask again for as long as the
    enrolment token would have been good and it has not come to life: the answer may have been lost.
    Raises EnrolmentRefused: unknown-token, expired-token, used-token, issuer-may-not, node-has-agent,
    too-many-agents or prefix-taken.
    """
    token = _token_of(token_text)
    if token.used_at:
        if own is not None and (asker := _enrolled_with(token, own, now)):
            return asker, ""
        raise EnrolmentRefused("used-token", "This enrolment token has been used: make a new one on the node's page.")
    if token.expires_at <= now:
        raise EnrolmentRefused(
            "expired-token", "This enrolment token has expired: make a new one on the node's page."
        )
    # Another token of the node may be spent at this moment: its agent is there once the node is ours.
    if not Node.objects.select_for_update(no_key=True).filter(pk=token.node_id).exists():
        raise EnrolmentRefused("unknown-token", "The node of this enrolment token was deleted.")
    agent = Agent.objects.select_for_update().filter(node=token.node).first() or Agent()
    _require_issuer(token)
    if agent.pk and not agent.is_replaceable:
        raise EnrolmentRefused(
            "node-has-agent", f"{token.node} already has an agent: retire it on the node's agent page first."
        )
    _require_room(agent, token.node)
    if own and Agent.objects.filter(prefix=own.prefix).exclude(pk=agent.pk).exists():
        raise EnrolmentRefused("prefix-taken", "The token that was drawn begins as another's: run the command again.")
    issued = secrets.issue("agent")
    issued_token = own or issued
    agent.node, agent.version = token.node, version
    agent.prefix, agent.digest = issued_token.prefix, issued_token.digest
    agent.last_seen_at = agent.retired_at = agent.clock_offset_s = agent.clock_error_s = None
    agent.instance, agent.troubles, agent.set_aside_at = None, [], None
    agent.save()
    token.used_at = now
    token.save(update_fields=["used_at", "updated_at"])
    wake.revoke_node(token.node_id)
    audit.note("agent-enrolled", agent=agent.pk, node=token.node.name, team=token.node.team_id)
    return agent, "" if own else issued.text


def _require_issuer(token: EnrolmentToken) -> None:
    """Raise EnrolmentRefused if whoever made the token may not any more: it ends with the right it was made by."""
    if not rights.still_may(token.created_by_id, locked(token.node.team), Role.MANAGER):
        raise EnrolmentRefused(
            "issuer-may-not",
            "Whoever made this enrolment token does not manage the node's team any more: have a manager of it"
            " make a new one on the node's page.",
        )


def _require_room(agent: Agent, node: Node) -> None:
    """Raise EnrolmentRefused if the node's team has as many agents in service, on other nodes, as it may."""
    try:
        owned.require_room([Agent(pk=agent.pk, node=node)])
    except owned.TooManyOwnedError as error:
        raise EnrolmentRefused(
            "too-many-agents",
            f"The team has {error.limit.most} agents in service, as many as it may ({error.setting}):"
            " retire some first.",
        ) from None


def _token_of(text: str) -> EnrolmentToken:
    """Return the locked enrolment token of a text; EnrolmentRefused unknown-token for none."""
    token = (
        EnrolmentToken.objects.select_for_update(of=("self",))
        .select_related("node")
        .filter(prefix=secrets.prefix_of(text) or "")
        .first()
    )
    if token is None or not secrets.matches(text, token.digest):
        raise EnrolmentRefused("unknown-token", "This enrolment token is unknown: copy it again, whole.")
    return token


def _enrolled_with(token: EnrolmentToken, own: OwnToken, now: datetime) -> Agent | None:
    """Return the agent that a spent token enrolled, if it is who asks again, in time, and was not heard of since."""
    if token.expires_at <= now:
        return None
    unheard = Agent.objects.select_related("node").filter(node=token.node_id, last_seen_at=None, retired_at=None)
    return unheard.filter(prefix=own.prefix, digest=own.digest).first()


@transaction.atomic
def retire_agent(*, agent: Agent, now: datetime) -> Agent:
    """End an agent's right to take jobs; those it has are lost. Retiring it again changes nothing."""
    agent = Agent.objects.select_for_update().get(pk=agent.pk)
    if agent.retired_at is None:
        agent.retired_at = now
        agent.save(update_fields=["retired_at", "updated_at"])
        losses.lose_jobs(
            jobs=Job.objects.filter(node_id=agent.node_id, state__in=Job.OPEN_STATES),
            fault="agent-lost",
            detail=losses.RETIRED,
            now=now,
        )
        audit.note("agent-retired", agent=agent.pk, node=agent.node.name)
        wake.revoke_node(agent.node_id)
    return agent


@transaction.atomic
def forget_agent(*, agent: Agent) -> None:
    """Delete a retired agent's row, so that its node can be deleted too; ConflictError while it is in service."""
    if agent.retired_at is None:
        raise ConflictError(_("Retire the agent of %(node)s before it is removed.") % {"node": agent.node})
    agent.delete()
