"""The base of both GridFTP tools: they differ in where the client runs."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from apps.bench.network import rfc6349
from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import is_known, keep_valid
from apps.bench.text import Message, _
from apps.bench.toolkit import Metric, Output, Parameter, Params, Reading, Tool, ToolRole, TrialEstimate, Value
from apps.bench.tools._gridftp import doubts, errors, figures, layout, logs, options
from apps.bench.tools._gridftp.figures import GridftpRun
from apps.bench.tools._gridftp.logs import LoggedTransfer
from apps.bench.tools._gridftp.report import GridftpReport, read_report
from apps.bench.tools._storage import places

SOURCE_ROLE = ToolRole(options.SOURCE, _("Source"), many=True)
DESTINATION_ROLE = ToolRole(options.DESTINATION, _("Destination"), many=True)
# Without a known capacity a transfer is taken to run at this rate (bit/s).
USUAL_BPS = 1e9
# At which random bytes are written for a file to be read (B/s), and what logins and clean-up take.
PREPARE_RATE = 300e6
OVERHEAD_S = 2.0

_VERSION = re.compile(r"appver=\"(\d{1,4}\.\d{1,4})")


class GridFtp(Tool):
    """globus-url-copy between globus-gridftp-server processes that the nodes start for the run."""

    programs = layout.PROGRAMS
    transport = "tcp"
    group = "transfer"
    file_system = "optional"
    parameters: ClassVar[tuple[Parameter, ...]] = options.PARAMETERS
    metrics = (
        Metric("throughput", _("Throughput"), "B/s", True, primary=True, axis="byte-rate"),
        Metric("throughput_reported", _("Throughput that the client reports"), "B/s", True, axis="byte-rate"),
        Metric("transfer_time", _("Transfer time"), "s", False, axis="time"),
        Metric("setup_time", _("Time beside the transfer"), "s", False, axis="time", has_zero=True),
        Metric("transferred", _("Bytes transferred"), "B", None, axis="size"),
        Metric("file_rate", _("Files per second"), "1/s", True, axis="count"),
        Metric("retransmits", _("Retransmits"), "count", False, axis="count"),
        Metric("window_granted", _("Socket buffer granted"), "B", None, axis="size"),
        Metric("fairness", _("Fairness of the data nodes (Jain)"), "1", True, axis="ratio"),
        *rfc6349.METRICS,
    )
    # Where the parameters stand in the client's argv.
    options: ClassVar[Mapping[str, str]] = {
        "-p": "streams",
        "-parallel": "streams",
        "-tcp-bs": "window",
        "-tcp-buffer-size": "window",
        "-bs": "block_size",
        "-block-size": "block_size",
        "-cc": "concurrency",
        "-concurrency": "concurrency",
        "-off": "offset",
        "-partial-offset": "offset",
        "-len": "size",
        "-partial-length": "size",
        "-t": "duration",
        "-sbs": "stripe_block",
        "-striped-block-size": "stripe_block",
        "-rst-retries": "retries",
        "-rst-interval": "retry_interval",
    }

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse options that do not fit together."""
        return options.check(params)

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more data nodes than an end has nodes."""
        return options.check_cast(params, counts)

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time at the path's capacity, with that of writing the files to be read, and the bytes."""
        size = params["size"] * params["files"]
        seconds = size * 8 / (capacity_bps or USUAL_BPS)
        if params["duration"]:
            seconds = min(seconds, params["duration"])
            size = math.ceil(seconds * (capacity_bps or USUAL_BPS) / 8)
        prepare = (params["offset"] * params["files"] + size) / PREPARE_RATE
        return TrialEstimate(
            min(seconds, params["time_limit"]) + OVERHEAD_S + (prepare if params["read_from"] == options.FILE else 0),
            {(options.SOURCE, options.DESTINATION): size},
            streams=params["streams"] * params["concurrency"] * max(params["data_nodes"], 1),
        )

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return what was moved and how fast; ToolFailure for anything that is not a whole transfer."""
        file_systems = places.read_places(outputs, params)
        if problem := errors.explain_others(outputs):
            raise problem
        client = self._client_of(outputs)
        text = texts.read_text(client)
        others = [output for output in outputs if output is not client]
        if problem := errors.explain(client, text):
            raise problem
        texts.refuse_cut_short(client)
        servers = [output for output in others if output.stage == layout.SERVE]
        transfers = [transfer for output in servers for transfer in logs.log_of(output)] or logs.read_log(text)
        run = GridftpRun(
            client=client,
            report=read_report(text),
            transfers=tuple(transfers),
            data_nodes=tuple(
                (output.node, output.role == options.DESTINATION, tuple(logs.log_of(output)))
                for output in others
                if output.stage == layout.DATA
            ),
            broken=max((logs.broken_sessions(output) for output in servers), default=0),
        )
        amount = figures.amount_of(run, params)
        on_disk = options.FILE in (params["read_from"], params["write_to"])
        return Reading(
            samples=figures.samples_of(run, amount, params),
            series=run.report.as_series(),
            requested=dict(params),
            granted=figures.granted_by(run),
            observed={**figures.observed_of(run, amount), **places.observed_of(file_systems)},
            tool_version=_version_of(text),
            flags=(*doubts.flags_of(run, amount, params), *(places.flags_of(file_systems) if on_disk else ())),
        )

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what the argv, the report or a server's log tell of how an archived transfer was made."""
        parameters: dict[str, Value] = {}
        words = iter(output.argv[1:])
        for word in words:
            if word in self.options:
                parameters[self.options[word]] = next(words, "")
        text = texts.read_text(output)
        parameters |= _recover_places(output, text) | _recover_size(
            read_report(text), logs.read_log(text), parameters
        )
        if is_known(output.argv):
            parameters["pipelining"] = "-pp" in output.argv or "-pipeline" in output.argv
            parameters["verify"] = "-verify-checksum" in output.argv
        if parameters.get("retries") == "0":
            # To the program it means without end.
            parameters["retries"] = 100 if "-rst" in output.argv else 0
        return keep_valid(self, parameters)

    def _client_of(self, outputs: Sequence[Output]) -> Output:
        """Return the output of the command that measured; in an archive it stands alone."""
        for output in reversed(outputs):
            if output.stage == layout.MEASURE or len(outputs) == 1:
                return output
        raise failure("not-run", None, role=self.roles[-1].name)


def _version_of(text: str) -> str:
    """Return the version that a client says when it debugs, else ""."""
    match = _VERSION.search(text)
    return match[1] if match else ""


def _recover_places(output: Output, text: str) -> dict[str, Value]:
    """Return from and to what an archived transfer went; a server's log knows of its own end only."""
    report = read_report(text)
    urls = [word for word in output.argv if "://" in word]
    if not report.sources and not urls:
        last = logs.arrived(logs.read_log(text))[-1:]
        return {_OWN_END[transfer.kind in logs.RECEIVING]: _place(transfer.path) for transfer in last}
    reads = any(word.endswith(_DEVICES[0]) for word in urls) or "zero  ->" in text
    writes = any(word.endswith(_DEVICES[1]) for word in urls) or "->  null" in text
    return {
        "read_from": options.MEMORY if reads else options.FILE,
        "write_to": options.MEMORY if writes else options.FILE,
    }


_DEVICES = ("/dev/zero", "/dev/null")
# The parameter of a server's own end, by whether it received.
_OWN_END = {True: "write_to", False: "read_from"}


def _place(path: str) -> str:
    return options.MEMORY if path in _DEVICES else options.FILE


def _recover_size(
    report: GridftpReport, transfers: Sequence[LoggedTransfer], parameters: Mapping[str, Value]
) -> dict[str, Value]:
    """Return the size of an archived transfer: what arrived, unless the argv tells."""
    if "size" in parameters and "duration" not in parameters:
        return {}
    whole = logs.arrived(transfers)
    if whole:
        return {"size": whole[-1].moved}
    return {"size": report.last.moved} if report.last and report.last.moved else {}
