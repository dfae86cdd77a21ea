"""What is done to agents and their jobs; one file a subject."""

from apps.agents.services.clock_steps import move_times
from apps.agents.services.enrolment import (
    EnrolmentRefused,
    IssuedEnrolment,
    OwnToken,
    enrol_agent,
    forget_agent,
    issue_enrolment_token,
    retire_agent,
)
from apps.agents.services.facts import record_facts
from apps.agents.services.heartbeats import Heartbeat, Unsent, record_heartbeats
from apps.agents.services.instances import (
    InstanceRefused,
    Introduction,
    admit_instance,
    admit_unnamed,
    choose_instance,
    leave_instance,
    note_refused_report,
)
from apps.agents.services.jobs import JobSpec, PollAnswer, deliver_jobs, queue_jobs, request_stop, request_stops
from apps.agents.services.losses import mark_lost_jobs, presume_ended
from apps.agents.services.removals import RemovalEnd, forget_removals, owe_removal, take_removal_on
from apps.agents.services.reports import GivenFile, JobReport, OtherInstance, UnknownJob, most_kept, record_report
from apps.agents.services.troubles import record_troubles

__all__ = [
    "EnrolmentRefused",
    "GivenFile",
    "Heartbeat",
    "InstanceRefused",
    "Introduction",
    "IssuedEnrolment",
    "JobReport",
    "JobSpec",
    "OtherInstance",
    "OwnToken",
    "PollAnswer",
    "RemovalEnd",
    "UnknownJob",
    "Unsent",
    "admit_instance",
    "admit_unnamed",
    "choose_instance",
    "deliver_jobs",
    "enrol_agent",
    "forget_agent",
    "forget_removals",
    "issue_enrolment_token",
    "leave_instance",
    "mark_lost_jobs",
    "most_kept",
    "move_times",
    "note_refused_report",
    "owe_removal",
    "presume_ended",
    "queue_jobs",
    "record_facts",
    "record_heartbeats",
    "record_report",
    "record_troubles",
    "request_stop",
    "request_stops",
    "retire_agent",
    "take_removal_on",
]
