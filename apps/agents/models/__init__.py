"""Agents, their facts, and the jobs they carry out."""

from apps.agents.models.agents import (
    DEAF_AFTER,
    LOST_AFTER,
    Agent,
    AgentState,
    EnrolmentToken,
    FactSnapshot,
    LateHeartbeat,
    Listener,
)
from apps.agents.models.instances import RIVAL_FOR, AgentInstance
from apps.agents.models.jobs import Job, JobFile, JobOutput
from apps.agents.models.removals import MOST_TRIES, OwedRemoval

__all__ = [
    "DEAF_AFTER",
    "LOST_AFTER",
    "MOST_TRIES",
    "RIVAL_FOR",
    "Agent",
    "AgentInstance",
    "AgentState",
    "EnrolmentToken",
    "FactSnapshot",
    "Job",
    "JobFile",
    "JobOutput",
    "LateHeartbeat",
    "Listener",
    "OwedRemoval",
]
