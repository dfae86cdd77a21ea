"""Why a parallel program was not started, or broke off."""

from apps.bench.outputs.reasons import Reason
from apps.bench.text import _

REASONS: dict[str, Reason] = {
    "mpi-aborted": Reason(
        _("A rank started from %(node)s broke off: %(said)s"),
        _("Read what it said before that in the raw output; the exit status alone tells little."),
        True,
    ),
    "mpi-missing-program": Reason(
        _("The program that the ranks were to run is missing on a node: %(said)s"),
        _("Install it at the same path on all nodes of the role, or correct its path in their agents' files."),
        False,
    ),
    "mpi-root": Reason(
        _("The launcher on %(node)s refuses to run as root."),
        _("Let the node's agent run its jobs as an ordinary user."),
        False,
    ),
    "mpi-slots": Reason(
        _("The nodes offer fewer slots than ranks were asked for: %(said)s"),
        _("Ask for fewer ranks, add nodes, or allow more than one rank a core."),
        False,
    ),
    "mpi-binding": Reason(
        _("The launcher on %(node)s cannot bind the ranks as asked for: %(said)s"),
        _("Choose another placement, or let the agent gather the node's facts again: its processors have changed."),
        False,
    ),
    "mpi-unreachable": Reason(
        _("The launcher on %(node)s could not start ranks on another node: %(said)s"),
        _("Let the job's user log in there without a password, or name another program that starts ranks."),
        True,
    ),
    "mpi-wrong-ranks": Reason(
        _("The benchmark does not run with this number of ranks: %(said)s"),
        _("Choose a number of ranks that it takes."),
        False,
    ),
    "mpi-unknown-benchmark": Reason(
        _("The program on %(node)s does not know the benchmark, and would have run others instead: %(said)s"),
        _("Choose a benchmark that this version has; its -list option names them."),
        False,
    ),
    "mpi-partial": Reason(
        _("The table of the benchmark on %(node)s is not whole: it ends at %(last)s of %(wanted)s bytes."),
        _("Look for what ended it early; raise the time limit, or measure fewer sizes."),
        True,
        "no-result",
    ),
    "mpi-no-size": Reason(
        _("The table of the benchmark on %(node)s has no row for messages of %(size)s bytes."),
        _("Choose a message size that the benchmark measures: as a rule the powers of two, from 1 byte on."),
        False,
    ),
    "mpi-corrupt": Reason(
        _("Messages arrived damaged: the benchmark on %(node)s found wrong data at %(size)s bytes."),
        _("Look for faulty memory, adapters or MPI settings; its figures are not believed."),
        False,
    ),
    "verification": Reason(
        _("The benchmark on %(node)s finished, but its own check of the data failed: %(said)s"),
        _("A full disk or a lost write is the usual cause: look at the file system and at the raw output."),
        True,
    ),
    "disk-full": Reason(
        _("The file system of %(node)s is full: %(said)s"),
        _("Free some space, or write less."),
        False,
    ),
    "io-error": Reason(
        _("Reading or writing failed on %(node)s: %(said)s"),
        _("See that the job's user may write there and that the file system is mounted."),
        True,
    ),
}
