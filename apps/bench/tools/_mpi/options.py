"""The parameters that all tools started by an MPI launcher offer, and what is wrong with combinations of them."""

import re
from collections.abc import Mapping

from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter, Params, ToolRole
from apps.bench.tools._mpi.placement import DISTANCE

# Those of the launchers; squeue tells of Slurm's queue, the rest serve an allocation that trials share.
PROGRAMS = ("mpirun", "mpiexec.hydra", "srun", "squeue", "sbatch", "scancel", "fathom-slurm")
ROLES = (ToolRole("node", _("Nodes"), many=True),)

OPENMPI, MPICH, INTELMPI, SLURM = "openmpi", "mpich", "intelmpi", "slurm"

LAUNCHER = Parameter(
    "launcher",
    "choice",
    _("Launcher"),
    help=_("What starts the ranks; it must be that of the MPI library that the benchmark was built with."),
    default=OPENMPI,
    choices=((OPENMPI, "Open MPI"), (MPICH, "MPICH"), (INTELMPI, "Intel MPI"), (SLURM, "Slurm")),
)
CLIENTS = Parameter(
    "clients",
    "integer",
    _("Number of nodes"),
    help=_("The first so many of the chosen nodes; 0 takes all. With Slurm, how many nodes to ask it for."),
    default=0,
    zero=_("all"),
    unit="count",
    minimum=0,
    maximum=100_000,
    aside=True,
)
RANKS = Parameter(
    "ranks",
    "integer",
    _("Ranks"),
    help=_("Processes of the parallel program, over all nodes."),
    default=2,
    unit="count",
    minimum=1,
    maximum=100_000,
)
REMOTE_AGENT = Parameter(
    "remote_agent",
    "text",
    _("Remote start by"),
    help=_(
        "A program on the agent's list that starts ranks on other nodes as ssh would; empty: ssh, if it is on it."
    ),
    aside=True,
    default="",
    advanced=True,
)
TRANSPORT = Parameter(
    "transport",
    "choice",
    _("Messages go by"),
    help=_(
        "TCP also within a node: to hold a fabric against it, or where nodes only seem to be one machine, as in the"
        " emulated lab."
    ),
    default="",
    choices=(("", _("what the library chooses")), ("tcp", "TCP")),
    advanced=True,
)
# For Open MPI (its pml ob1 takes no UCX), for UCX and libfabric, which MPICH uses, and for Intel MPI; MPICH has a
# shared memory of its own for ranks of one host. Each library passes those of its own on to every rank.
TRANSPORTS = {
    "": (),
    "tcp": (
        ("OMPI_MCA_pml", "ob1"),
        ("OMPI_MCA_btl", "tcp,self"),
        ("UCX_TLS", "tcp,self"),
        ("FI_PROVIDER", "tcp"),
        ("MPIR_CVAR_NOLOCAL", "1"),
        ("I_MPI_FABRICS", "ofi"),
    ),
}
OVERSUBSCRIBE = Parameter(
    "oversubscribe",
    "boolean",
    _("More ranks than cores"),
    help=_("Let Open MPI start more ranks on a node than it has cores."),
    default=False,
    advanced=True,
)
PARTITION = Parameter(
    "partition",
    "text",
    _("Slurm partition"),
    help=_("Empty: the cluster's default."),
    default="",
    advanced=True,
    aside=True,
)
QUEUE_LIMIT = Parameter(
    "queue_limit",
    "duration",
    _("Longest time in the queue"),
    help=_("A Slurm job that has not started by then is withdrawn, and the trial fails with the queue's reason."),
    default=600.0,
    unit="s",
    minimum=1,
    maximum=7 * 86400,
    advanced=True,
    aside=True,
)
JOB_TIME = Parameter(
    "job_time",
    "duration",
    _("Slurm time limit"),
    help=_("What the job asks for; 0 takes the measurement's own limit, a shared allocation the cluster's."),
    default=0.0,
    zero=_("not given"),
    unit="s",
    minimum=0,
    maximum=30 * 86400,
    advanced=True,
    aside=True,
)
SLURM_MPI = Parameter(
    "slurm_mpi",
    "choice",
    _("Slurm MPI plug-in"),
    help=_("How srun sets up the ranks (srun --mpi=list); MPICH and Intel MPI as a rule need pmi2, Open MPI pmix."),
    default="",
    choices=(("", _("the cluster's default")), ("pmix", "pmix"), ("pmi2", "pmi2"), ("none", "none")),
    advanced=True,
    aside=True,
)
BUNDLE = Parameter(
    "bundle",
    "text",
    _("Slurm allocation"),
    help=_(
        "A name under which trials share one allocation: the first takes it, and it is given back when none has used"
        " it for a while. Empty: a job for each trial."
    ),
    aside=True,
    default="",
    advanced=True,
)
BUNDLE_RANKS = Parameter(
    "bundle_ranks",
    "integer",
    _("Ranks of the allocation"),
    help=_(
        "How many the shared allocation has room for: the most that a trial of the sweep needs. 0: as this trial."
    ),
    aside=True,
    default=0,
    zero=_("not given"),
    unit="count",
    minimum=0,
    maximum=100_000,
    advanced=True,
)
BUNDLE_IDLE = Parameter(
    "bundle_idle",
    "duration",
    _("Idle time of the allocation"),
    help=_("The shared allocation ends when no trial has run in it for this long."),
    default=120.0,
    unit="s",
    minimum=10,
    maximum=86_400,
    advanced=True,
    aside=True,
)
SHARED_PARAMETERS = (
    *(LAUNCHER, CLIENTS, REMOTE_AGENT, TRANSPORT, OVERSUBSCRIBE, PARTITION, QUEUE_LIMIT, JOB_TIME, SLURM_MPI),
    *(BUNDLE, BUNDLE_RANKS, BUNDLE_IDLE),
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


def check(params: Params) -> dict[str, Message]:
    """Return what is wrong with the launcher's parameters: {field: message}."""
    errors = {}
    if params["remote_agent"] and not _NAME.fullmatch(params["remote_agent"]):
        errors["remote_agent"] = Message(_("Give the name of one program, for example ssh; no path and no options."))
    if params["partition"] and not _NAME.fullmatch(params["partition"]):
        errors["partition"] = Message(_("Give the name of one partition: letters, digits and .-_ only."))
    if params.get("bundle") and not _NAME.fullmatch(params["bundle"]):
        errors["bundle"] = Message(_("Give a name of letters, digits and .-_ only."))
    if params["launcher"] == SLURM and params.get(DISTANCE.name):
        errors["distance"] = Message(_("Slurm chooses nodes and sockets itself: leave the distance at 0."))
    return errors


def check_cast(params: Params, counts: Mapping[str, int], *, minimum: int = 1) -> dict[str, Message]:
    """Return what is wrong with the number of nodes; Slurm brings its own, of which the role's are not."""
    if params["launcher"] == SLURM:
        return {}
    there = counts.get("node", 0)
    if params["clients"] > there:
        text = _("%(wanted)s nodes are asked for, and %(there)s are chosen.")
        return {"clients": Message(text, {"wanted": params["clients"], "there": there})}
    if (params["clients"] or there) < minimum:
        text = _("This needs %(least)s nodes; choose more, or raise their number.")
        return {"clients": Message(text, {"least": minimum})}
    return {}
