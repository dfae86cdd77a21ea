"""Why a job had no process to speak of, as a reason a reader can act on."""

import re
from collections.abc import Sequence

from apps.agents.models import Job
from apps.bench.text import Message, _
from apps.bench.toolkit import ToolFailure

_PROGRAM = re.compile(r"\{program:([^{}]+)\}")

# fault code -> (what happened, what to do, whether another attempt can help)
_FAULTS: dict[str, tuple[str, str, bool]] = {
    "agent-lost": (
        _("The agent on %(node)s was lost while the job was under way."),
        _(
            "See on the agent's page when it was last heard of, and start it again; where it is retired, enrol "
            "another."
        ),
        True,
    ),
    "agent-restarted": (
        _("The agent on %(node)s was restarted while the job was under way."),
        _("The trial is carried out again by itself; if it happens often, read the agent's log on the node."),
        True,
    ),
    "outcome-gone": (
        _("What the job on %(node)s came to is not here: %(detail)s."),
        _("The trial is carried out again by itself; so it is after the database was put back from a backup."),
        True,
    ),
    "node-trouble": (
        _("%(node)s could not measure for a reason of its own: %(detail)s"),
        _(
            "The trial waits until that is over and is carried out again by itself; the agent's page tells what it "
            "is."
        ),
        True,
    ),
    "server-clock-set": (
        _("The start of the job on %(node)s was planned before the server's clock was set: %(detail)s."),
        _("The trial is carried out again by itself; see that the server's clock is right, and stays so."),
        True,
    ),
    "stopped": (
        _("The job on %(node)s was stopped before it was handed out."),
        _("Run the trial again if it is still wanted."),
        True,
    ),
    "not-allowed": (
        _("%(program)s is not on the allow-list of the agent on %(node)s."),
        _("Add the program to “programs” in the agent's agent.json and restart the agent."),
        False,
    ),
    "option-not-allowed": (
        _("The agent on %(node)s refuses this option: %(detail)s."),
        _(
            "Measure without it, or have the node's owner allow it under “options” (a variable: “variables”) in the "
            "agent's agent.json and restart the agent."
        ),
        False,
    ),
    "path-not-allowed": (
        _("The agent on %(node)s lets no measurement use this file: %(detail)s."),
        _(
            "Use files of the work folder, or have the node's owner name the folder under “paths” in the agent's "
            "agent.json and restart the agent."
        ),
        False,
    ),
    "destination-not-allowed": (
        _("The agent on %(node)s lets no measurement call this address: %(detail)s."),
        _(
            "Measure between addresses of the inventory that a node's page shows as reported or confirmed, or have "
            "the node's owner name the network under “destinations” in the agent's agent.json and restart the agent."
        ),
        False,
    ),
    "not-found": (
        _("%(program)s is not installed on %(node)s."),
        _("Install it, or give its path under “programs” in the agent's agent.json."),
        False,
    ),
    "setting-not-allowed": (
        _("The agent on %(node)s does not let measurements change %(detail)s."),
        _("Add the setting to “settings” in the agent's agent.json and restart the agent."),
        False,
    ),
    "server-unheard": (
        _("%(node)s was cut off under the settings of this trial: %(detail)s."),
        _(
            "The trial is carried out again by itself; where these settings cut the node off from this server, clone "
            "the campaign with others."
        ),
        True,
    ),
    "not-started": (
        _("%(program)s could not be started on %(node)s: %(detail)s"),
        _("Start it by hand as the agent's job user on that node and mend what it says."),
        False,
    ),
}


def raise_for(jobs: Sequence[Job]) -> None:
    """Raise the ToolFailure of the first job that had a fault; jobs that only ran are the parser's business.

    What an optional job could have told is told by its absence.
    """
    for job in jobs:
        if job.fault and not job.optional:
            what, remedy, retryable = _FAULTS.get(job.fault, _FAULTS["not-started"])
            values = {"node": job.node.name, "program": _program_of(job), "detail": job.fault_detail or job.fault}
            raise ToolFailure(job.fault, Message(what, values), retryable, Message(remedy))


def _program_of(job: Job) -> str:
    """Return the program that the fault is about: the command itself, or one that its words or files name."""
    texts = [*job.argv[1:], *(text for pair in (*job.files, *job.environment) for text in pair)]
    programs = [name for text in texts for name in _PROGRAM.findall(text)]
    return next((name for name in programs if job.fault_detail.startswith(f"{name} is not ")), job.argv[0])
