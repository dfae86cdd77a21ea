"""What is said of the factors of a parallel program's I/O, and how each is set."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from apps.bench.rules import shapes
from apps.bench.text import _
from apps.bench.units import format_quantity

# What a program does where nobody chooses.
UNCHOSEN: Mapping[str, Any] = {"collective_nodes": 0}
SIZES = frozenset({shapes.BLOCK, "collective_size"})


class Choice(NamedTuple):
    """A factor with what to say: that one value is better, that it has no effect, when it counts, and the change.

    `change` is the command with a value in it (`{of}`, of sizes in B), `commands` those of values that are words.
    """

    rule: str
    better: str
    equal: str
    when: str
    change: str = ""
    can_prove: bool = True
    commands: Mapping[str, str] = {}


CHOICES = {
    "node_placement": Choice(
        "mpi-node-placement",
        _("%(of)s is better than %(to)s for %(whom)s: deal the ranks out to the nodes that way"),
        _("Dealing ranks out to the nodes in turn or filling one after the other is the same for %(whom)s"),
        _("Ranks fill several nodes, and each node has a path of its own to the file system."),
        commands={"BAL": "mpirun --map-by node\n", "UNBAL": "mpirun --map-by slot\n"},
    ),
    "core_placement": Choice(
        "mpi-core-placement",
        _("%(of)s is better than %(to)s for %(whom)s: place the ranks of a node that way"),
        _("Where in a node the ranks run has no effect on %(whom)s"),
        _("The I/O of all ranks of a node goes through the node's one path."),
        commands={
            "DIST": "mpirun --map-by socket --bind-to core\n",
            "ACC": "mpirun --map-by core --bind-to core\n",
        },
    ),
    shapes.BLOCK: Choice(
        "mpi-file-system-block",
        _("File-system blocks of %(of)s are better than %(to)s for %(whom)s"),
        _("The file system's block size has no effect on %(whom)s"),
        _("The program writes large shared files collectively."),
        "# A file system keeps its block size: this makes another.\nmmcrfs FILE_SYSTEM -F STANZA_FILE -B {of}\n",
        can_prove=False,
    ),
    "subtype": Choice(
        "mpi-collective",
        _('The kind of I/O "%(of)s" is better than "%(to)s" for %(whom)s'),
        _('The kinds of I/O "%(of)s" and "%(to)s" are the same for %(whom)s'),
        _("Many ranks write small pieces of one file: collective I/O gathers them; of tiny files it costs more."),
        "make bt SUBTYPE={of}\n",
    ),
    "collective_nodes": Choice(
        "mpi-collective-nodes",
        _("%(of)s collecting ranks are better than %(to)s for %(whom)s"),
        _("The number of collecting ranks (%(of)s or %(to)s) has no effect on %(whom)s"),
        _("Full MPI-IO: ROMIO's cb_nodes, or OMPI_MCA_io_ompio_num_aggregators with Open MPI's own."),
        "export OMPI_MCA_io_ompio_num_aggregators={of}\n",
    ),
    "collective_size": Choice(
        "mpi-collective-size",
        _("Collective buffers of %(of)s are better than %(to)s for %(whom)s"),
        _("The size of the collective buffers (%(of)s or %(to)s) has no effect on %(whom)s"),
        _("Full MPI-IO: cb_buffer_size; a multiple of the file system's block is best."),
        "echo cb_buffer_size {of} > romio-hints && export ROMIO_HINTS=$PWD/romio-hints\n",
    ),
}


def command_of(choice: Choice, value: object) -> str:
    """Return the command that sets a factor to a value, "" for one that nobody knows how to set."""
    if choice.commands:
        return choice.commands.get(str(value), "")
    if value == 0 and choice.change.startswith("export "):
        return f"unset {choice.change.removeprefix('export ').partition('=')[0]}\n"
    return choice.change.format(of=value) if choice.change and value is not None else ""


def value_of(factor: str, side: object) -> str:
    """Return what one side of a comparison has of a factor, as people read it."""
    value = raw_of(factor, side)
    return format_quantity(value, "B") if factor in SIZES and isinstance(value, int) else str(value)


def values_of(factor: str, values: Sequence[Any]) -> str:
    """Return values of a factor as people read them."""
    return ", ".join(value_of(factor, {factor: value}) for value in values)


def raw_of(factor: str, side: object) -> object:
    """Return what one side of a comparison has of a factor."""
    parameters = side if isinstance(side, dict) else {}
    return parameters.get(factor, parameters.get("block_size_bytes", ""))
