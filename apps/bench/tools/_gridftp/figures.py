"""From a client's report and the servers' logs to the figures of a transfer."""

import math
from dataclasses import dataclass
from typing import Any

from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output, Params, SampleValue, ToolFailure
from apps.bench.tools._gridftp import logs
from apps.bench.tools._gridftp.logs import LoggedTransfer
from apps.bench.tools._gridftp.report import GridftpReport
from apps.bench.tools._storage import clients

Json = dict[str, Any]

LOG, CLIENT, WALL = "server-log", "client", "wall-clock"


@dataclass(frozen=True)
class GridftpRun:
    """All that is known of one measurement.

    `transfers` are the log lines of the servers that the client spoke to, `data_nodes` those of each data node with
    its name, and whether it received; `broken` counts the sessions that were cut off. `is_log` says that there is a
    server's log alone, which tells of every transfer since the server's start: the last one is read.
    """

    client: Output
    report: GridftpReport
    transfers: tuple[LoggedTransfer, ...]
    data_nodes: tuple[tuple[str, bool, tuple[LoggedTransfer, ...]], ...]
    broken: int

    @property
    def is_log(self) -> bool:
        """Return whether no client's report is at hand."""
        return bool(self.transfers) and not self.report.sources

    @property
    def arrived(self) -> list[LoggedTransfer]:
        """Return the complete transfers as the receiver logged them, or the sender if there is no other log."""
        whole = logs.arrived(self.transfers)
        return whole[-1:] if self.is_log else whole

    @property
    def sent(self) -> list[LoggedTransfer]:
        """Return the complete transfers as the sender logged them."""
        return [] if self.is_log else logs.sent(self.transfers)

    @property
    def wall_s(self) -> float | None:
        """Return how long (s) the client ran, None if it is not known."""
        start, end = self.client.started_at, self.client.ended_at
        return end - start if start is not None and end is not None and end > start else None


@dataclass(frozen=True)
class TransferAmount:
    """Bytes moved, the time (s) they took, and by which clock that is known."""

    moved: int
    seconds: float
    clock: str


def amount_of(run: GridftpRun, params: Params) -> TransferAmount:
    """Return what was moved in which time; ToolFailure if nobody tells, or if it is less than was to be moved.

    The servers log microseconds; the client counts tenths of a second. A transfer that broke and was taken up again
    is logged in parts, so its time is that of the client's whole run, the pause included.
    """
    amount = _by_log(run) if not run.broken else None
    last = run.report.last
    if run.broken and run.wall_s and (last or run.arrived):
        amount = TransferAmount(params["size"] * params["files"], run.wall_s, WALL)
    # A report that breaks off at its first line has a rate and moved nothing.
    if amount is None and last and last.average and last.moved:
        amount = TransferAmount(last.moved, last.moved / last.average, CLIENT)
    if amount is None:
        raise _untold(run)
    goal = params["size"] * params["files"]
    if not params["duration"] and not run.is_log and amount.moved < goal:
        raise failure("incomplete-transfer", run.client, moved=amount.moved, wanted=goal)
    return amount


def samples_of(run: GridftpRun, amount: TransferAmount, params: Params) -> tuple[SampleValue, ...]:
    """Return the figures of a run; those that are not known are left out."""
    last = run.report.last
    again = [count for transfer in (run.sent or run.arrived) for count in transfer.retransmits]
    buffers = [size for name, size in granted_by(run).items() if name.endswith("buffer")]
    files = 1 if run.is_log else params["files"]
    moved_by = [float(share["transferred"]) for share in shares_of(run)]
    figures = {
        "throughput": amount.moved / amount.seconds,
        "throughput_reported": last.average if last and last.average else None,
        "transfer_time": amount.seconds,
        "setup_time": max(0.0, run.wall_s - amount.seconds) if run.wall_s else None,
        "transferred": float(amount.moved),
        "file_rate": files / amount.seconds if files > 1 else None,
        "retransmits": float(sum(again)) if again else None,
        "window_granted": float(min(buffers)) if params["window"] and buffers else None,
        "fairness": clients.fairness(moved_by),
    }
    return tuple(
        SampleValue(name, value) for name, value in figures.items() if value is not None and math.isfinite(value)
    )


def granted_by(run: GridftpRun) -> Json:
    """Return the socket buffers (B) of both ends, the block size (B), streams and stripes, as the servers logged."""
    observed: Json = {}
    own = [*run.sent, *run.arrived]
    for name, kinds in (("send_buffer", logs.SENDING), ("receive_buffer", logs.RECEIVING)):
        # The front end of a striped server has no connection of its own, and logs what was asked for: the data nodes
        # have, and log what they got.
        behind = [transfer for _node, _receives, log in run.data_nodes for transfer in log]
        whole = [transfer for transfer in own if transfer.stripes < 2 or transfer.retransmits]
        sizes = [transfer.buffer for transfer in behind or whole if transfer.kind in kinds and transfer.buffer]
        if sizes:
            observed[name] = min(sizes)
    if own:
        observed["block_size"] = own[-1].block
        observed["streams"] = min(transfer.streams for transfer in own)
        observed["data_nodes"] = min(transfer.stripes for transfer in own)
    return observed


def shares_of(run: GridftpRun) -> list[Json]:
    """Return what each data node of the receiving end (of the sending one, if that end logged nothing) moved.

    The first data node of a striped server logs no transfer (13.24): its share is what the front end logged less the
    others'.
    """
    for receives, kinds, whole in ((True, logs.RECEIVING, run.arrived), (False, logs.SENDING, run.sent)):
        amounts = {
            node: sum(transfer.moved for transfer in log if transfer.kind in kinds and transfer.code == logs.COMPLETE)
            for node, at_end, log in run.data_nodes
            if at_end == receives
        }
        if not any(amounts.values()):
            continue
        silent = [node for node, amount in amounts.items() if not amount]
        rest = sum(transfer.moved for transfer in whole) - sum(amounts.values())
        if len(silent) == 1 and rest > 0:
            amounts[silent[0]] = rest
        return [{"node": node, "transferred": amount} for node, amount in amounts.items() if amount]
    return []


def observed_of(run: GridftpRun, amount: TransferAmount) -> Json:
    """Return what was seen beside the figures: the clock, the data nodes' shares, cut sessions, a log's transfers."""
    observed: Json = {"timed_by": amount.clock}
    if shares := shares_of(run):
        observed["data_node_shares"] = shares
    if run.broken:
        observed["broken_sessions"] = run.broken
    if run.is_log:
        observed["transfers"] = [
            {
                "transferred": transfer.moved,
                "transfer_time": transfer.end - transfer.start,
                "streams": transfer.streams,
                "buffer": transfer.buffer,
            }
            for transfer in logs.arrived(run.transfers)
        ]
    return observed


def _by_log(run: GridftpRun) -> TransferAmount | None:
    arrived = run.arrived
    if not arrived:
        return None
    seconds = max(transfer.end for transfer in arrived) - min(transfer.start for transfer in arrived)
    return TransferAmount(sum(transfer.moved for transfer in arrived), seconds, LOG) if seconds > 0 else None


def _untold(run: GridftpRun) -> ToolFailure:
    if not run.client.stdout.strip() and not run.client.stderr.strip():
        return failure("silent-transfer", run.client)
    if len(run.report.sources) > 1:
        return failure("several-files", run.client, files=len(run.report.sources))
    return failure("unreported-transfer" if run.report.sources else "unreadable", run.client)
