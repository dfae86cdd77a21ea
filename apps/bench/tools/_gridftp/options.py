"""The options of GridFTP transfers, and which of them fit together."""

import re
from collections.abc import Mapping

from apps.bench.network import rfc6349
from apps.bench.text import Message, _
from apps.bench.toolkit import Parameter, Params
from apps.bench.tools._storage import places

MEMORY, FILE = "memory", "file"
SOURCE, DESTINATION, CLIENT = "source", "destination", "client"

PARAMETERS = (
    Parameter(
        "size",
        "size",
        _("File size"),
        help=_("Bytes to transfer of each file."),
        default=1024**3,
        unit="B",
        minimum=1,
        maximum=2**62,
    ),
    Parameter(
        "streams",
        "integer",
        _("Streams"),
        help=_("Data connections at once for each file (-p)."),
        default=1,
        unit="count",
        minimum=1,
        maximum=128,
    ),
    Parameter(
        "window",
        "size",
        _("Window"),
        help=_("TCP buffer to ask for on both ends (-tcp-bs); 0 leaves it to the kernel's autotuning."),
        default=0,
        zero=_("autotuned"),
        unit="B",
        minimum=0,
        maximum=512 * 1024**2,
    ),
    Parameter(
        "read_from",
        "choice",
        _("Read from"),
        help=_("Memory reads /dev/zero; a file is written first and removed afterwards."),
        default=MEMORY,
        choices=((MEMORY, _("memory")), (FILE, _("a file"))),
    ),
    Parameter(
        "write_to",
        "choice",
        _("Write to"),
        help=_("Memory writes to /dev/null; a file is removed afterwards."),
        default=MEMORY,
        choices=((MEMORY, _("memory")), (FILE, _("a file"))),
    ),
    Parameter(
        "data_nodes",
        "integer",
        _("Data nodes on each end"),
        help=_(
            "Above 1 the transfer is striped (-stripe) over the first so many nodes of each end; 0 for all of them. "
            "Files must lie on a file system that all nodes of an end share."
        ),
        default=1,
        unit="count",
        minimum=0,
        maximum=256,
    ),
    Parameter(
        "block_size",
        "size",
        _("Block size"),
        help=_("Bytes that programs read, send and write at a time (-bs); 0 leaves 256 KiB."),
        default=0,
        zero=_("left to the program"),
        unit="B",
        minimum=0,
        maximum=1024**3,
    ),
    Parameter("files", "integer", _("Files"), default=1, unit="count", minimum=1, maximum=1000),
    Parameter(
        "concurrency",
        "integer",
        _("Files at once"),
        help=_("Control connections at once (-cc), each with its own streams."),
        default=1,
        unit="count",
        minimum=1,
        maximum=64,
    ),
    Parameter(
        "pipelining",
        "boolean",
        _("Pipelining"),
        help=_("Ask for the next file before the last has ended (-pp): what many small files need."),
        default=False,
    ),
    Parameter(
        "offset",
        "size",
        _("Offset"),
        help=_("Leave out so much of the beginning of each file: a partial transfer (-off, -len)."),
        default=0,
        unit="B",
        minimum=0,
        maximum=2**62,
        advanced=True,
    ),
    Parameter(
        "duration",
        "duration",
        _("End after"),
        help=_("Break off after this time (-t), in whole seconds; 0 for the whole file."),
        default=0.0,
        zero=_("the whole file"),
        unit="s",
        minimum=0,
        maximum=86_400,
        advanced=True,
    ),
    Parameter(
        "stripe_block",
        "size",
        _("Stripe block size"),
        help=_("Consecutive bytes that each data node moves (-sbs); 0 gives each one contiguous part."),
        default=1024**2,
        unit="B",
        minimum=0,
        maximum=1024**3,
        advanced=True,
    ),
    Parameter(
        "retries",
        "integer",
        _("Restarts"),
        help=_("How often a broken transfer is taken up again where it broke (-rst-retries); 0 for never."),
        default=0,
        unit="count",
        minimum=0,
        maximum=100,
        advanced=True,
    ),
    Parameter(
        "retry_interval",
        "duration",
        _("Wait before a restart"),
        help=_("In whole seconds (-rst-interval)."),
        default=1.0,
        unit="s",
        minimum=1,
        maximum=600,
        advanced=True,
    ),
    Parameter(
        "sync_writes",
        "boolean",
        _("Flush writes"),
        help=_("The receiving server flushes to the disk before it confirms what it wrote (-sync-writes)."),
        default=False,
        advanced=True,
    ),
    Parameter(
        "verify",
        "boolean",
        _("Verify"),
        help=_("Compare the checksums of each file and its copy afterwards (-verify-checksum)."),
        default=False,
        advanced=True,
    ),
    Parameter(
        "port",
        "integer",
        _("Port"),
        help=_("The servers' control port; data nodes listen on the next one. Both must be free and open."),
        default=2811,
        minimum=1024,
        maximum=65534,
        advanced=True,
        aside=True,
    ),
    Parameter(
        "data_ports",
        "text",
        _("Data ports"),
        help=_("Range of ports for data connections that the firewalls let through, such as 50000,51000."),
        default="",
        advanced=True,
        aside=True,
    ),
    places.FOLDER,
    places.TIME_LIMIT,
    *rfc6349.PARAMETERS,
)

_PORTS = re.compile(r"(\d{4,5}),(\d{4,5})")


def check(params: Params) -> dict[str, Message]:
    """Return what is wrong with options that are each right by themselves: {field: message}."""
    errors = places.check_folder(params)
    errors |= {
        name: Message(_("globus-url-copy counts whole seconds here: write for example 10 s."))
        for name in ("duration", "retry_interval")
        if params[name] != int(params[name])
    }
    if params["concurrency"] > params["files"]:
        errors["concurrency"] = Message(_("There are not so many files: raise their number, or lower this."))
    if params["pipelining"] and params["files"] == 1:
        errors["pipelining"] = Message(_("Pipelining takes several files: raise their number."))
    if params["duration"] and params["files"] > 1:
        errors["duration"] = Message(_("Only the transfer of one file can end after a time."))
    if params["offset"] and params["read_from"] == MEMORY:
        errors["offset"] = Message(_("Only a file has an offset: read from a file."))
    if params["verify"] and MEMORY in (params["read_from"], params["write_to"]):
        errors["verify"] = Message(_("Only a file has a checksum: read from and write to files."))
    if params["data_ports"] and not is_range(params["data_ports"]):
        errors["data_ports"] = Message(_("Give two ports from 1024 to 65535, the lower first: 50000,51000."))
    return errors


def check_cast(params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
    """Refuse more data nodes than an end has nodes."""
    fewest = min(counts.get(SOURCE, 0), counts.get(DESTINATION, 0))
    if params["data_nodes"] <= max(fewest, 1):
        return {}
    text = _("Only %(count)s nodes were chosen for one of the ends: give at most as many, or choose more.")
    return {"data_nodes": Message(text, {"count": fewest})}


def is_range(text: str) -> bool:
    """Return whether a text is a range of ports, such as 50000,51000."""
    match = _PORTS.fullmatch(text)
    return match is not None and 1024 <= int(match[1]) < int(match[2]) <= 65535
