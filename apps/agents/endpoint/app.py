"""The ASGI application for `/agent/v1/`: who asks, what is asked, what is answered."""

import asyncio
import hmac
import logging
import time
from typing import Any

from django.conf import settings
from django.utils import timezone

from apps.agents import services
from apps.agents.endpoint import database, protocol
from apps.agents.endpoint.exchange import (
    Disconnected,
    Problem,
    Receive,
    Scope,
    Send,
    answer,
    header,
    read_body,
    read_json,
)
from apps.agents.endpoint.hub import Hub, Waiter
from apps.agents.queries import Credentials
from apps.core import secrets

logger = logging.getLogger(__name__)

ROOT = "/agent/v1/"
# Shorter than the silence of common proxies and than the time after which an agent counts as lost.
HOLD_S = 20.0
SMALL_BODY = 16 * 1024
LARGE_BODY = 1024 * 1024
Answer = tuple[int, dict[str, Any]]


class AgentEndpoint:
    """ASGI application for `/agent/v1/`; everything else goes to `otherwise`."""

    def __init__(self, *, otherwise: Any, hold_s: float = HOLD_S) -> None:
        self.otherwise = otherwise
        self.hold_s = hold_s
        self.hub = Hub()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Any request starts the listening: after an outage agents' silence counts from then.
        self.hub.start()
        path = scope["path"]
        if not path.startswith(ROOT):
            await self.otherwise(scope, receive, send)
            return
        try:
            status, data = await self._answer_to(scope, receive, path.removeprefix(ROOT).rstrip("/"))
        except Disconnected:
            return
        except Problem as problem:
            status, data = problem.status, {"code": problem.code, "detail": str(problem)}
        except database.Unavailable:
            status, data = 503, {"code": "unavailable", "detail": "The database is away: try again."}
        except Exception:
            logger.exception("%s %s failed", scope["method"], path)
            status, data = 500, {"code": "error", "detail": "The server failed; its log has the details."}
        await answer(send, status, data)

    async def _answer_to(self, scope: Scope, receive: Receive, name: str) -> Answer:
        arrived = time.time()
        words = name.split("/")
        is_event = len(words) == 3 and words[0] == "jobs" and words[2] == "events"
        if not is_event and name not in ("clock", "enrol", "facts", "poll"):
            raise Problem(404, "unknown-address", f"There is no {ROOT}{name}.")
        if scope["method"] not in (("GET", "POST") if name == "clock" else ("POST",)):
            raise Problem(405, "wrong-method", "Use POST.")
        if name == "enrol":
            return await self._enrol(await read_body(scope, receive, SMALL_BODY))
        agent = await self._identify(scope)
        self.hub.hear(agent.agent_id)
        if name == "clock":
            return 200, {"received": arrived, "sent": time.time()}
        if name == "poll":
            return await self._poll(agent, await read_body(scope, receive, LARGE_BODY))
        if name == "facts":
            body = await read_body(scope, receive, LARGE_BODY)
            return 200, {"changed": await database.run(_take_facts, agent.agent_id, body)}
        body = await read_body(scope, receive, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        return 200, {"state": await database.run(_take_report, agent.node_id, words[1], body)}

    async def _identify(self, scope: Scope) -> Credentials:
        """Return whose token the request bears; Problem 401 without one, and for an unknown or retired one."""
        scheme, _blank, token = header(scope, b"authorization").partition(" ")
        prefix = secrets.prefix_of(token.strip()) if scheme.lower() == "bearer" else None
        if prefix is None:
            raise Problem(401, "no-token", "Send the agent's token as “Authorization: Bearer …”.")
        found = await self.hub.credentials(prefix)
        if found is None or not hmac.compare_digest(secrets.digest_of(token.strip()), found.digest):
            raise Problem(401, "unknown-token", "This agent is unknown here: enrol it on the node's agent page.")
        if found.is_retired:
            raise _retired()
        return found

    async def _enrol(self, body: bytes) -> Answer:
        token, version = protocol.enrolment_of(read_json(body))
        try:
            agent, text = await database.run(
                services.enrol_agent, token_text=token, version=version, now=timezone.now()
            )
        except services.EnrolmentRefused as refusal:
            status = 409 if refusal.code in ("used-token", "node-has-agent") else 401
            raise Problem(status, refusal.code, str(refusal)) from refusal
        return 201, {"token": text, "node": str(agent.node)}

    async def _poll(self, agent: Credentials, body: bytes) -> Answer:
        """Answer with what is to be done on the agent's node, as soon as there is something."""
        question = protocol.question_of(read_json(body))
        self.hub.hear(agent.agent_id, question.offset_s, question.error_s)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.hold_s
        waiter = Waiter(agent.node_id, question.stopping)
        self.hub.enter(waiter)
        is_first_look = True
        try:
            while not waiter.is_over and (is_first_look or loop.time() < deadline):
                waiter.rearm()
                delivery = await database.run(
                    services.deliver_jobs,
                    agent_id=agent.agent_id,
                    held=question.held,
                    stopping=question.stopping,
                    is_first_look=is_first_look,
                )
                if delivery:
                    return 200, {"jobs": [protocol.job_as_json(job) for job in delivery.jobs], "stop": delivery.stop}
                is_first_look = False
                await waiter.wait(deadline)
            if waiter.is_revoked:
                raise _retired()
            return 200, {"jobs": [], "stop": []}
        finally:
            self.hub.leave(waiter)


def _retired() -> Problem:
    return Problem(401, "retired", "This agent was retired: enrol the node again on its agent page.")


def _take_facts(agent_id: int, body: bytes) -> bool:
    facts, version = protocol.facts_of(read_json(body))
    return services.record_facts(agent_id=agent_id, facts=facts, version=version)


def _take_report(node_id: int, job_id: str, body: bytes) -> str:
    report = protocol.report_of(read_json(body))
    try:
        return services.record_report(node_id=node_id, job_id=protocol.job_id_of(job_id), report=report).value
    except services.UnknownJob:
        raise Problem(404, "unknown-job", "There is no such job on this node.") from None
