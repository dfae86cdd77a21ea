"""What agents read from the kernel around a job: its form, what it means, and what it says of a measurement."""

from apps.bench.telemetry.charts import LABELS, STREAMS, series_of
from apps.bench.telemetry.report import Telemetry, read
from apps.bench.telemetry.sockets import Socket, SocketListing, read_sockets
from apps.bench.telemetry.summary import TelemetryFigure, summarise
from apps.bench.telemetry.transport import Transport, transport_of
from apps.bench.telemetry.verdicts import judge

__all__ = [
    "LABELS",
    "STREAMS",
    "Socket",
    "SocketListing",
    "Telemetry",
    "TelemetryFigure",
    "Transport",
    "judge",
    "read",
    "read_sockets",
    "series_of",
    "summarise",
    "transport_of",
]
