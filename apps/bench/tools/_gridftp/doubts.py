"""The doubts about a GridFTP transfer."""

from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Params
from apps.bench.tools._gridftp import figures
from apps.bench.tools._gridftp.figures import GridftpRun, TransferAmount
from apps.bench.tools._gridftp.report import TICK_S

# From this share on, the tenth of a second that the client counts by is worth a word.
COARSE = 0.02


def flags_of(run: GridftpRun, amount: TransferAmount, params: Params) -> tuple[Flag, ...]:
    """Return what there is to say of a transfer's time, buffers, streams and data nodes."""
    flags = [_restarted(run), _coarse(amount), _one_of_many(run), _capped(run, params), *_fewer(run, params)]
    return tuple(flag for flag in flags if flag)


def _restarted(run: GridftpRun) -> Flag | None:
    if not run.broken:
        return None
    text = _("The transfer broke %(times)s times and was taken up again: the pauses count as transfer time.")
    return Flag("restarted", "warning", Message(text, {"times": run.broken}))


def _coarse(amount: TransferAmount) -> Flag | None:
    if amount.clock != figures.CLIENT or TICK_S / 2 / amount.seconds < COARSE:
        return None
    text = _("Without the server's log the time is known to 0.1 s only: the rate may be off by %(percent)s %%.")
    percent = 100 * TICK_S / 2 / amount.seconds
    return Flag("coarse-time", "warning", Message(text, {"percent": f"{percent:.0f}"}))


def _one_of_many(run: GridftpRun) -> Flag | None:
    count = len(figures.logs.arrived(run.transfers))
    if not run.is_log or count < 2:
        return None
    text = _("The log tells of %(count)s transfers: these are the figures of the last one.")
    return Flag("several-transfers", "info", Message(text, {"count": count}))


def _capped(run: GridftpRun, params: Params) -> Flag | None:
    """Say when the kernel capped the buffer: it doubles what is asked, unless rmem_max or wmem_max forbid it."""
    buffers = [size for name, size in figures.granted_by(run).items() if name.endswith("buffer")]
    if not params["window"] or not buffers or min(buffers) >= 2 * params["window"]:
        return None
    text = _("The kernel granted %(granted)s B of the %(wanted)s B that a window of %(asked)s B needs.")
    values = {"granted": min(buffers), "wanted": 2 * params["window"], "asked": params["window"]}
    return Flag("window-capped", "warning", Message(text, values))


def _fewer(run: GridftpRun, params: Params) -> list[Flag]:
    granted = figures.granted_by(run)
    flags = []
    streams = granted.get("streams", params["streams"])
    if streams < params["streams"] and not run.is_log:
        text = _("%(seen)s of %(asked)s streams were used.")
        flags.append(Flag("fewer-streams", "warning", Message(text, {"seen": streams, "asked": params["streams"]})))
    stripes = granted.get("data_nodes", params["data_nodes"])
    if stripes < params["data_nodes"]:
        text = _("%(seen)s of %(asked)s data nodes took part.")
        values = {"seen": stripes, "asked": params["data_nodes"]}
        flags.append(Flag("not-striped", "invalid", Message(text, values)))
    return flags
