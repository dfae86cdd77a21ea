"""The parameters of IOzone, its tests, and its metrics."""

from typing import NamedTuple

from apps.bench.text import _
from apps.bench.toolkit import Metric, Parameter
from apps.bench.tools._iozone.report import KIB
from apps.bench.tools._storage import clients, places


class Test(NamedTuple):
    """One of IOzone's tests: our parameter, its number, and what it gives at first and again."""

    name: str
    number: str
    metrics: tuple[str, ...]


TESTS = (
    Test("write", "0", ("write", "rewrite")),
    Test("read", "1", ("read", "reread")),
    Test("random", "2", ("random_read", "random_write")),
    Test("backward", "3", ("backward_read",)),
    Test("strided", "5", ("strided_read",)),
)

PARAMETERS = (
    clients.CLIENTS,
    Parameter(
        "file_size",
        "size",
        _("File size"),
        help=_("Of each thread's file (-s); twice the memory or more, or else reads come from it."),
        default=1024**3,
        unit="B",
        minimum=KIB,
    ),
    Parameter(
        "record_size", "size", _("Record size"), help=_("Bytes moved by each call (-r)."),
        default=1024**2, unit="B", minimum=KIB, maximum=1024**3,
    ),
    Parameter(
        "threads", "integer", _("Threads"), help=_("Processes on each client, each with a file of its own (-t)."),
        default=1, unit="count", minimum=1, maximum=256,
    ),
    Parameter(
        "direct", "boolean", _("Direct I/O"), help=_("Go past the client's page cache (-I)."), default=False
    ),
    Parameter("read", "boolean", _("Read"), help=_("Read the files in order, too."), default=True),
    Parameter("random", "boolean", _("Random"), help=_("Read and write in random order, too."), default=False),
    Parameter("backward", "boolean", _("Backward"), help=_("Read from the end to the start, too."), default=False),
    Parameter("strided", "boolean", _("Strided"), help=_("Read one record of several, too."), default=False),
    Parameter(
        "stride", "integer", _("Stride"), help=_("Records from one read to the next of the strided test (-j)."),
        default=17, unit="count", minimum=2, maximum=10_000, advanced=True,
    ),
    Parameter(
        "retest", "boolean", _("Rewrite and reread"), help=_("Do each sequential test twice."), default=True
    ),
    Parameter(
        "drop_cache",
        "boolean",
        _("Empty the cache"),
        help=_("Take the files out of the client's page cache before each test that reads, and look if they are."),
        default=True,
        advanced=True,
    ),
    Parameter(
        "neighbour",
        "boolean",
        _("Read the neighbour's files"),
        help=_("Each client reads what the next one wrote, which its own cache does not hold."),
        default=False,
        advanced=True,
    ),
    Parameter(
        "sync", "boolean", _("Synchronous writes"), help=_("Each record is on the disk before the next (-o)."),
        default=False, advanced=True,
    ),
    places.FOLDER,
    places.PAGE_POOL,
    places.TIME_LIMIT,
)  # fmt: skip

METRICS = (
    Metric("write", _("Write rate"), "B/s", True, primary=True, axis="byte-rate"),
    Metric("rewrite", _("Rewrite rate"), "B/s", True, axis="byte-rate"),
    Metric("read", _("Read rate"), "B/s", True, axis="byte-rate"),
    Metric("reread", _("Reread rate"), "B/s", True, axis="byte-rate"),
    Metric("random_read", _("Random read rate"), "B/s", True, axis="byte-rate"),
    Metric("random_write", _("Random write rate"), "B/s", True, axis="byte-rate"),
    Metric("backward_read", _("Backward read rate"), "B/s", True, axis="byte-rate"),
    Metric("strided_read", _("Strided read rate"), "B/s", True, axis="byte-rate"),
    Metric("record_rewrite", _("Rate of rewriting one record"), "B/s", True, axis="byte-rate"),
    Metric("mixed", _("Rate of mixed reads and writes"), "B/s", True, axis="byte-rate"),
    Metric("fwrite", _("Rate of fwrite"), "B/s", True, axis="byte-rate"),
    Metric("refwrite", _("Rate of fwrite, again"), "B/s", True, axis="byte-rate"),
    Metric("fread", _("Rate of fread"), "B/s", True, axis="byte-rate"),
    Metric("refread", _("Rate of fread, again"), "B/s", True, axis="byte-rate"),
    Metric("pwrite", _("Rate of pwrite"), "B/s", True, axis="byte-rate"),
    Metric("pread", _("Rate of pread"), "B/s", True, axis="byte-rate"),
    Metric("fairness", _("Fairness of the clients (Jain)"), "1", True, axis="ratio"),
)
