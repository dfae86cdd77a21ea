"""What is done to agents and their jobs; one file a subject."""

from apps.agents.services.enrolment import (
    EnrolmentRefused,
    IssuedEnrolment,
    enrol_agent,
    forget_agent,
    issue_enrolment_token,
    retire_agent,
)
from apps.agents.services.facts import record_facts
from apps.agents.services.heartbeats import Heartbeat, record_heartbeats
from apps.agents.services.jobs import Delivery, JobSpec, deliver_jobs, queue_jobs, request_stop, request_stops
from apps.agents.services.losses import mark_lost_jobs
from apps.agents.services.reports import GivenFile, Report, UnknownJob, record_report

__all__ = [
    "Delivery",
    "EnrolmentRefused",
    "GivenFile",
    "Heartbeat",
    "IssuedEnrolment",
    "JobSpec",
    "Report",
    "UnknownJob",
    "deliver_jobs",
    "enrol_agent",
    "forget_agent",
    "issue_enrolment_token",
    "mark_lost_jobs",
    "queue_jobs",
    "record_facts",
    "record_heartbeats",
    "record_report",
    "request_stop",
    "request_stops",
    "retire_agent",
]
