"""The parameters of fio, its argv, and its metrics."""

from collections.abc import Sequence

from apps.bench.text import Message, _
from apps.bench.toolkit import Metric, NodeRef, Parameter, Params
from apps.bench.tools._fio import logs
from apps.bench.tools._storage import clients, places

READING, WRITING = ("read", "randread"), ("write", "randwrite")
MIXED = ("rw", "randrw")
# Engines that hand over one record at a time, whatever depth they are given.
ONE_AT_A_TIME = ("psync", "sync", "mmap")
# The rate is logged this often (s), or less often in a long run.
FINEST_LOG_S = 0.5
MOST_LOGGED = 200
MARGIN_S = 60.0

PARAMETERS = (
    clients.CLIENTS,
    Parameter(
        "pattern",
        "choice",
        _("Pattern"),
        default="write",
        choices=(
            ("read", _("read in order")),
            ("write", _("write in order")),
            ("randread", _("read at random")),
            ("randwrite", _("write at random")),
            ("rw", _("read and write in order")),
            ("randrw", _("read and write at random")),
        ),
    ),
    Parameter("block_size", "size", _("Block size"), default=1024**2, unit="B", minimum=512, maximum=1024**3),
    Parameter(
        "file_size",
        "size",
        _("File size"),
        help=_("Of each job's file; without direct I/O twice the memory or more, or else reads come from it."),
        default=1024**3,
        unit="B",
        minimum=4096,
    ),
    Parameter(
        "depth",
        "integer",
        _("Depth"),
        help=_("Operations under way at one time in each job (--iodepth)."),
        default=1,
        unit="count",
        minimum=1,
        maximum=4096,
    ),
    Parameter(
        "engine",
        "choice",
        _("Engine"),
        help=_("How operations are handed to the kernel; only libaio, io_uring and posixaio have several under way."),
        default="libaio",
        choices=tuple((name, name) for name in ("libaio", "io_uring", "posixaio", "psync", "sync", "mmap")),
    ),
    Parameter(
        "jobs",
        "integer",
        _("Jobs"),
        help=_("Processes on each client, each with a file of its own (--numjobs)."),
        default=1,
        unit="count",
        minimum=1,
        maximum=256,
    ),
    Parameter(
        "read_share",
        "integer",
        _("Share of reads"),
        help=_("Per cent of the operations of a mixed pattern that read (--rwmixread)."),
        default=50,
        unit="%",
        minimum=1,
        maximum=99,
    ),
    Parameter("direct", "boolean", _("Direct I/O"), help=_("Go past the client's page cache."), default=True),
    Parameter(
        "duration",
        "duration",
        _("Duration"),
        help=_("How long to measure, going over the files again and again; 0 goes over them once."),
        default=30.0,
        unit="s",
        minimum=0,
        maximum=86_400,
    ),
    Parameter(
        "ramp",
        "duration",
        _("Omit"),
        help=_("Time at the start that is not counted (--ramp_time)."),
        default=2.0,
        unit="s",
        minimum=0,
        maximum=3600,
    ),
    Parameter(
        "sync_every",
        "integer",
        _("Synchronise every"),
        help=_("Writes after which the file is brought to the disk, in the time measured (--fsync); 0 for never."),
        default=0,
        zero=_("never"),
        unit="count",
        minimum=0,
        maximum=1_000_000,
        advanced=True,
    ),
    Parameter(
        "verify",
        "choice",
        _("Verify"),
        help=_("Read back what was written and compare checksums; the reading is not a part of the result."),
        default="",
        choices=(("", _("no")), ("crc32c", "CRC-32C"), ("xxhash", "xxHash"), ("md5", "MD5"), ("sha256", "SHA-256")),
        advanced=True,
    ),
    places.FOLDER,
    places.PAGE_POOL,
    places.TIME_LIMIT,
)

METRICS = (
    Metric("rate", _("Rate"), "B/s", True, primary=True, axis="byte-rate"),
    Metric("read", _("Read rate"), "B/s", True, axis="byte-rate"),
    Metric("write", _("Write rate"), "B/s", True, axis="byte-rate"),
    Metric("read_iops", _("Reads a second"), "op/s", True, axis="operations"),
    Metric("write_iops", _("Writes a second"), "op/s", True, axis="operations"),
    Metric("read_latency", _("Mean time of a read"), "s", False, axis="time"),
    Metric("write_latency", _("Mean time of a write"), "s", False, axis="time"),
    Metric("read_latency_p99", _("Time of a read, 99th percentile"), "s", False, axis="time"),
    Metric("write_latency_p99", _("Time of a write, 99th percentile"), "s", False, axis="time"),
    Metric("read_latency_max", _("Max time of a read"), "s", False, axis="time"),
    Metric("write_latency_max", _("Max time of a write"), "s", False, axis="time"),
    Metric("fairness", _("Fairness of the clients (Jain)"), "1", True, axis="ratio"),
)

# What has to do with reading.
OF_READS = ("rate", "read", "read_iops", "read_latency", "read_latency_p99", "read_latency_max")


def check(params: Params) -> dict[str, Message]:
    """Refuse what fio would silently not do."""
    errors = places.check_folder(params)
    if params["file_size"] < params["block_size"]:
        errors["file_size"] = Message(_("Give at least the block size."))
    if params["depth"] > 1 and params["engine"] in ONE_AT_A_TIME:
        text = _("The engine %(engine)s has one operation under way: set the depth to 1, or choose libaio.")
        errors["depth"] = Message(text, {"engine": params["engine"]})
    if params["direct"] and params["engine"] == "mmap":
        errors["engine"] = Message(_("Mapped memory goes through the page cache: leave out direct I/O."))
    if params["direct"] and params["block_size"] % 512:
        errors["block_size"] = Message(_("Direct I/O needs a multiple of 512 B."))
    if params["verify"] and (params["pattern"] not in WRITING or params["duration"]):
        errors["verify"] = Message(_("Verify a pattern that only writes, with a duration of 0: all is read back."))
    return errors


def reads_files(params: Params) -> bool:
    """Return whether the files must be there before the measurement."""
    return params["pattern"] not in WRITING


def log_interval_s(params: Params) -> float:
    """Return the time (s) between two entries of the bandwidth log."""
    return max(FINEST_LOG_S, round(params["duration"] / MOST_LOGGED, 1))


def time_limit_s(params: Params) -> float:
    """Return after which time (s) the measuring stage is ended."""
    return params["duration"] + params["ramp"] + MARGIN_S if params["duration"] else params["time_limit"]


def paths(node: NodeRef, index: int, params: Params) -> list[str]:
    """Return the files of a client."""
    return [places.path_of(node, params, f"fio-{index}.{job}") for job in range(params["jobs"])]


def prepare_argv(node: NodeRef, index: int, params: Params) -> tuple[str, ...]:
    """Return the command that lays the files out and measures nothing, so that all clients measure at one time."""
    return (*_common(node, index, params), "--create_only=1")


def measure_argv(node: NodeRef, index: int, params: Params) -> tuple[str, ...]:
    """Return the measuring command."""
    argv = [*_common(node, index, params), "--unlink=1"]
    if params["duration"]:
        argv += ["--time_based", f"--runtime={params['duration']:g}", f"--ramp_time={params['ramp']:g}"]
    if params["sync_every"]:
        argv.append(f"--fsync={params['sync_every']}")
    if params["verify"]:
        argv += [f"--verify={params['verify']}", "--verify_fatal=1", "--verify_state_save=0"]
    log_ms = round(1000 * log_interval_s(params))
    return (*argv, "--write_bw_log={work}/fio", f"--log_avg_msec={log_ms}")


def collected(params: Params) -> tuple[str, ...]:
    """Return the names of the logs that the measuring command leaves."""
    return logs.names(params["jobs"])


def _common(node: NodeRef, index: int, params: Params) -> Sequence[str]:
    argv = ["fio", "--name=fathom", "--output-format=json", "--eta=never", "--group_reporting"]
    argv += [f"--directory={_escaped(places.folder_of(node, params))}"]
    argv += [f"--filename_format={places.name_of(node, f'fio-{index}.$jobnum')}"]
    argv += [f"--rw={params['pattern']}", f"--bs={params['block_size']}", f"--size={params['file_size']}"]
    argv += [f"--ioengine={params['engine']}", f"--iodepth={params['depth']}", f"--numjobs={params['jobs']}"]
    argv.append(f"--direct={int(params['direct'])}")
    if params["pattern"] in MIXED:
        argv.append(f"--rwmixread={params['read_share']}")
    return argv


def _escaped(folder: str) -> str:
    r"""Return a folder as fio takes it: a colon, which separates several, is written \:."""
    return folder.replace(":", "\\:")
