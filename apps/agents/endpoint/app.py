"""The ASGI application for `/agent/v1/`: who asks, what is asked, what is answered."""

import asyncio
import hmac
import logging
import time
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.agents import queries, services
from apps.agents.endpoint import database, intake, protocol, room
from apps.agents.endpoint.exchange import (
    Disconnected,
    Incoming,
    Receive,
    Scope,
    Send,
    address_of,
    answer,
    bad_field,
    header,
    read_body,
    read_json,
)
from apps.agents.endpoint.hub import Hub, Waiter
from apps.agents.endpoint.room import Problem
from apps.agents.queries import Credentials
from apps.agents.troubles import Trouble
from apps.core import bodies, races, secrets
from apps.core.bodies import BodyKind
from apps.core.limits.askers import address_in

logger = logging.getLogger(__name__)

ROOT = "/agent/v1/"
# What there is below it, besides the events of a job.
NAMES = ("clock", "enrol", "facts", "hello", "leave", "poll")
# Shorter than the silence of common proxies and than the time after which an agent counts as lost.
HOLD_S = 20.0
Answer = tuple[int, dict[str, Any]]
# A question for work is read in the loop in which all others are answered, but for longer ones (bytes).
SHORT_POLL = 4 * 1024
# Codes of the refusals of enrolments.
CONFLICTS = ("used-token", "node-has-agent", "too-many-agents", "prefix-taken")
# The key of no process.
NOBODY = UUID(int=0)


class AgentEndpoint:
    """ASGI application for `/agent/v1/`; everything else goes to `otherwise`."""

    def __init__(self, *, otherwise: Any, hold_s: float = HOLD_S) -> None:
        self.otherwise = otherwise
        self.hold_s = hold_s
        self.hub = Hub()
        self._reports = room.AgentRoom(room.REPORTS_OF_AGENT, room.REPORTS_OF_ALL)
        self._news = room.AgentRoom(room.NEWS_OF_AGENT, room.NEWS_OF_ALL)
        self._enrolments = room.Lobby(room.ENROLMENTS_OF_ADDRESS, room.ENROLMENTS_OF_ALL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Any request starts the listening: after an outage agents' silence counts from then.
        self.hub.start()
        path = scope["path"]
        if not path.startswith(ROOT):
            await self.otherwise(scope, receive, send)
            return
        incoming, retry_after_s = Incoming(scope, receive), None
        try:
            status, data = await self._answer_to(scope, incoming, path.removeprefix(ROOT).rstrip("/"))
        except Disconnected:
            return
        except Problem as problem:
            status, data = problem.status, {"code": problem.code, "detail": str(problem)}
            retry_after_s = problem.retry_after_s
        except database.Unavailable:
            status, data = 503, {"code": "unavailable", "detail": "The database is away: try again."}
        except Exception as error:
            if races.is_lost(error) or races.is_collision(error):
                races.note(error)
                # Not one of the refusals after which an agent puts a result aside: it asks again.
                status, data = 503, {"code": "changed", "detail": "Someone changed the same thing now: try again."}
            else:
                logger.exception("%s %s failed", scope["method"], path)
                status, data = 500, {"code": "error", "detail": "The server failed; its log has the details."}
        sending = bodies.Closing(receive, send) if incoming.is_left else send
        await answer(scope, sending, status, data, retry_after_s)

    async def _answer_to(self, scope: Scope, receive: Receive, name: str) -> Answer:
        arrived = time.time()
        words = name.split("/")
        is_event = len(words) == 3 and words[0] == "jobs" and words[2] == "events"
        if not is_event and name not in NAMES:
            raise Problem(404, "unknown-address", f"There is no {ROOT}{name}.")
        if scope["method"] not in (("GET", "POST") if name == "clock" else ("POST",)):
            raise Problem(405, "wrong-method", "Use POST.")
        if name == "enrol":
            with self._enrolments.share_of(address_of(scope)) as share:
                body = await read_body(scope, receive, BodyKind.GREETING, share)
            return await self._enrol(address_in(address_of(scope)), body)
        prefix, agent = await self._identify(scope)
        key = protocol.instance_of(header(scope, b"fathom-instance"))
        if name in ("hello", "leave"):
            return await self._greet(name, scope, receive, prefix, agent, key)
        if key == agent.instance and name != "poll":
            self._hear(scope, agent.agent_id, key)
        if name == "clock":
            return 200, {"received": arrived, "sent": time.time()}
        if is_event:
            return await self._take_event(scope, receive, prefix, agent, key, protocol.job_id_of(words[1]))
        agent = await self._admitted(prefix, agent, key)
        with self._news.share_of(agent.agent_id, agent.team_id) as share:
            body = await read_body(scope, receive, BodyKind.QUESTION if name == "poll" else BodyKind.NEWS, share)
        if name == "facts":
            changed = await database.run_for(agent.team_id, intake.take_facts, agent.agent_id, body)
            return 200, {"changed": changed}
        return await self._poll(prefix, agent, body)

    async def _take_event(
        self, scope: Scope, receive: Receive, prefix: str, agent: Credentials, key: UUID | None, job: UUID
    ) -> Answer:
        """Take a report on a job, which is looked up before anything is read: up to 64 MiB may come."""
        if not await database.run_for(agent.team_id, queries.has_job, agent.node_id, job):
            raise intake.unknown_job()
        # What was measured is looked at whoever works for the node now: it counts if the process took the job.
        with self._reports.share_of(agent.agent_id, agent.team_id) as share:
            body = await read_body(scope, receive, BodyKind.REPORT, share)
            async with database.turn_of_body(agent.team_id, len(body)):
                receipt, is_news = await database.run_for(agent.team_id, intake.take_report, agent, key, job, body)
        if is_news:
            self.hub.distrust(prefix)
        return 200, receipt

    async def _identify(self, scope: Scope) -> tuple[str, Credentials]:
        """Return the prefix of the request's token and whose it is; Problem 401 if it is nobody's, or retired."""
        scheme, _blank, token = header(scope, b"authorization").partition(" ")
        prefix = secrets.prefix_of(token.strip()) if scheme.lower() == "bearer" else None
        if prefix is None:
            raise Problem(401, "no-token", "Send the agent's token as “Authorization: Bearer …”.")
        credentials = await self.hub.credentials(prefix, address_in(address_of(scope)))
        if credentials is None or not hmac.compare_digest(secrets.digest_of(token.strip()), credentials.digest):
            raise Problem(401, "unknown-token", "This agent is unknown here: enrol it on the node's agent page.")
        if credentials.is_retired:
            raise _retired()
        return prefix, credentials

    async def _greet(
        self, name: str, scope: Scope, receive: Receive, prefix: str, agent: Credentials, key: UUID | None
    ) -> Answer:
        """Let a process begin its work, or end it."""
        if key is None:
            raise bad_field("Fathom-Instance", "is missing in the request's head")
        with self._news.share_of(agent.agent_id, agent.team_id) as share:
            data = read_json(await read_body(scope, receive, BodyKind.GREETING, share))
        if name == "leave":
            await database.run_for(
                agent.team_id, services.leave_instance, agent_id=agent.agent_id, key=key, now=timezone.now()
            )
            return 200, {}
        introduction = protocol.introduction_of(data, key, address_of(scope))
        try:
            await database.run_for(
                agent.team_id,
                services.admit_instance,
                agent_id=agent.agent_id,
                introduction=introduction,
                now=timezone.now(),
            )
        except services.InstanceRefused as refusal:
            raise Problem(409, intake.OTHER, str(refusal), retry_after_s=refusal.retry_after_s) from refusal
        self.hub.distrust(prefix)
        self._hear(scope, agent.agent_id, key)
        return 200, {}

    def _hear(self, scope: Scope, agent_id: int, key: UUID | None) -> None:
        """Take a request for a sign of life, unless it, or a later one, came before: then a proxy repeats it."""
        if self.hub.is_new(agent_id, key, protocol.number_of(header(scope, b"fathom-request"))):
            self.hub.hear(agent_id)

    async def _admitted(self, prefix: str, agent: Credentials, key: UUID | None) -> Credentials:
        """Return the credentials of an agent whose process is the one at work; Problem 409 for another."""
        if key == agent.instance:
            return agent
        # What is known of the agent may be old.
        self.hub.distrust(prefix)
        fresh = await self.hub.credentials(prefix)
        if fresh is None or fresh.is_retired:
            raise _retired()
        if key == fresh.instance:
            return fresh
        if key is not None:
            raise Problem(
                409, intake.UNKNOWN, "Another process works for this node, or none yet: introduce yourself."
            )
        try:
            await database.run_for(agent.team_id, services.admit_unnamed, agent_id=agent.agent_id, now=timezone.now())
        except services.InstanceRefused as refusal:
            raise Problem(409, intake.OTHER, str(refusal), retry_after_s=refusal.retry_after_s) from refusal
        self.hub.distrust(prefix)
        return replace(fresh, instance=None)

    async def _enrol(self, address: str, body: bytes) -> Answer:
        token, version, own = protocol.enrolment_of(read_json(body))
        try:
            agent, text = await database.run_for_stranger(
                address, services.enrol_agent, token_text=token, version=version, own=own, now=timezone.now()
            )
        except services.EnrolmentRefused as refusal:
            raise Problem(409 if refusal.code in CONFLICTS else 401, refusal.code, str(refusal)) from refusal
        return 201, {"node": str(agent.node)} | ({"token": text} if text else {})

    async def _poll(self, prefix: str, agent: Credentials, body: bytes) -> Answer:
        """Answer with what is to be done on the agent's node, as soon as there is something."""
        if len(body) > SHORT_POLL:
            question, troubles = await database.run_for(agent.team_id, intake.read_poll, body)
        else:
            question, troubles = intake.read_poll(body)
        if self.hub.is_repeated(agent.agent_id, agent.instance, question.number):
            # Nobody waits for the answer, or whoever does asks again; above all it says nothing of the agent now.
            return 200, {"jobs": [], "stop": [], "repeated": True}
        self.hub.hear(agent.agent_id, question.offset_s, question.error_s, question.unsent_s)
        await self._take_troubles(prefix, agent, troubles)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + min(self.hold_s, self.hold_s if question.hold_s is None else question.hold_s)
        waiter = Waiter(agent.node_id, question.stopping)
        self.hub.enter(waiter)
        is_first_look = True
        try:
            while not waiter.is_over and (is_first_look or loop.time() < deadline):
                waiter.rearm()
                if waiter.is_doubted:
                    waiter.is_doubted = False
                    await self._admitted(prefix, replace(agent, instance=NOBODY), agent.instance)
                delivery = await database.run_for(
                    agent.team_id,
                    services.deliver_jobs,
                    agent_id=agent.agent_id,
                    held=question.held,
                    stopping=question.stopping,
                    is_first_look=is_first_look,
                    instance=agent.instance,
                    poll=question.number,
                    running=question.running,
                    over=question.over,
                    told=question.told,
                )
                if delivery:
                    return 200, protocol.answer_as_json(delivery)
                is_first_look = False
                await waiter.wait(deadline)
            if waiter.is_revoked:
                raise _retired()
            return 200, {"jobs": [], "stop": []}
        finally:
            self.hub.leave(waiter)

    async def _take_troubles(self, prefix: str, agent: Credentials, troubles: tuple[Trouble, ...] | None) -> None:
        if troubles is not None and frozenset(one.code for one in troubles) != agent.troubles:
            await database.run_for(
                agent.team_id,
                services.record_troubles,
                agent_id=agent.agent_id,
                agent_troubles=troubles,
                now=timezone.now(),
            )
            self.hub.distrust(prefix)


def _retired() -> Problem:
    return Problem(401, "retired", "This agent was retired: enrol the node again on its agent page.")
