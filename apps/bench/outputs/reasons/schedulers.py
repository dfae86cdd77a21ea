"""Why a batch scheduler did not run a job, or could not tell of one."""

from apps.bench.outputs.reasons import Reason
from apps.bench.text import _

REASONS: dict[str, Reason] = {
    "job-missing": Reason(
        _("The scheduler knows no such job: %(said)s"),
        _("Finished jobs are forgotten after some minutes: read qacct's accounts or the job completion log."),
        False,
    ),
    "not-accounted": Reason(
        _("The scheduler keeps no accounts: %(said)s"),
        _("Read scontrol show job soon after the end, or let the cluster keep a job completion log."),
        False,
    ),
    "no-scheduler": Reason(
        _("The scheduler's controller does not answer: %(said)s"),
        _("See that it runs and that this node may talk to it, then run the trial again."),
        True,
    ),
    "queue-refused": Reason(
        _("The scheduler refused the job: %(said)s"),
        _("Change what the message names: partition, time limit, account or option."),
        False,
    ),
    "queue-impossible": Reason(
        _("The scheduler can never start this job as it was asked for: %(said)s"),
        _("Ask for fewer nodes or processors, a shorter time limit, or another partition."),
        False,
    ),
    "queue-limit": Reason(
        _("The job still waited in the queue after %(seconds)s s: %(said)s"),
        _("Allow a longer time in the queue, ask for less, or run the trial again when the cluster is less busy."),
        True,
    ),
    "not-granted": Reason(
        _("The scheduler gave the job no resources: %(said)s"),
        _("Ask for no more than the partition has, and see with sinfo whether its nodes are up."),
        True,
    ),
    "job-cancelled": Reason(
        _("The scheduler's job was cancelled: %(said)s"),
        _("Someone cancelled it, or it was preempted; run the trial again."),
        True,
    ),
    "job-timed-out": Reason(
        _("The scheduler ended the job at its time limit: %(said)s"),
        _("Raise the time limit of the job, or measure less in one trial."),
        False,
    ),
    "job-node-failed": Reason(
        _("A node of the scheduler's job failed: %(said)s"),
        _("See with sinfo -R what is wrong with it, and run the trial again."),
        True,
    ),
    "queue-unreadable": Reason(
        _("What the scheduler printed cannot be read: it is damaged or of an unknown form."),
        _("Compare the raw output with what this version of the scheduler should print."),
        True,
        "unreadable",
    ),
}
