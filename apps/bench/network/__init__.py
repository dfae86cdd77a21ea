"""The arithmetic of network paths: bottleneck, RTT and MTU, sharing of links, BDP, and what TCP can reach."""

from apps.bench.network.paths import Path, PathLink, find_path
from apps.bench.network.shared_links import Ceiling, clients_ceiling_bps, pairs_at_once
from apps.bench.network.transport import (
    bdp_bytes,
    most_bps,
    tcp_ceiling_bps,
    tcp_efficiency,
    udp_ceiling_bps,
    udp_efficiency,
    window_limited_bps,
)
from apps.bench.network.ways import Crossed, Fabric, Ways

__all__ = [
    "Ceiling",
    "Crossed",
    "Fabric",
    "Path",
    "PathLink",
    "Ways",
    "bdp_bytes",
    "clients_ceiling_bps",
    "find_path",
    "most_bps",
    "pairs_at_once",
    "tcp_ceiling_bps",
    "tcp_efficiency",
    "udp_ceiling_bps",
    "udp_efficiency",
    "window_limited_bps",
]
