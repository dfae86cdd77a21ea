"""Agents, their facts, and the jobs they carry out."""

from apps.agents.models.agents import LOST_AFTER, Agent, AgentState, EnrolmentToken, FactSnapshot, Listener
from apps.agents.models.jobs import Job, JobOutput

__all__ = [
    "LOST_AFTER",
    "Agent",
    "AgentState",
    "EnrolmentToken",
    "FactSnapshot",
    "Job",
    "JobOutput",
    "Listener",
]
