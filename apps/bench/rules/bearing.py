"""Which metrics the findings of a rule rest on, where they do not name them: flags of others say nothing of them."""

from collections.abc import Iterable, Mapping
from typing import Any

_RATE = ("goodput",)
_TCP = ("goodput", "retransmits", "rtt_min", "min_rtt", "mean_rtt", "window_observed", "window_granted")
FILES = ("write", "read", "rewrite", "reread", "random_read", "random_write", "fwrite", "fread", "pwrite", "pread")

# The metric of each pattern of a workload: of tools that name it so, and of fio, where the pattern is a parameter.
METRICS_OF_PATTERNS: Mapping[str, tuple[str, str]] = {
    "write": ("write", "write"),
    "read": ("read", "read"),
    "randwrite": ("random_write", "write"),
    "randread": ("random_read", "read"),
}
# Rules whose findings name a metric themselves, in what proves them or in their title.
NAMED: Mapping[str, str] = {
    "storage-record-size": "its title has the metric of the sweep",
    "storage-clients": "its title has the metric of the sweep",
    "storage-share-of-disk": "its title has the metric of both",
    "storage-connections": "its title has the metric of the question",
    "limiting-layer": "its title has the metric of the question",
    "undecided-layer": "its title has the metric of the question",
    "workload-nodes": "its title has the pattern",
    "workload-best": "its title has the pattern",
    "mpi-distance": "its reasons have the metric of the curve",
    "mpi-node-placement": "its reasons have the metric of the ratio",
    "mpi-core-placement": "its reasons have the metric of the ratio",
    "mpi-file-system-block": "its reasons have the metric of the ratio",
    "mpi-collective": "its reasons have the metric of the ratio",
    "mpi-collective-nodes": "its reasons have the metric of the ratio",
    "mpi-collective-size": "its reasons have the metric of the ratio",
}
# Rules that rest on whatever was measured of nodes, of which no flag of a metric takes anything.
WHOLE: Mapping[str, str] = {
    "path-interface": "it reads the nodes' facts",
    "path-route": "it reads the routes of all runs",
    "cache-effect": "it doubts the figures themselves, whatever they are of",
    "mpi-affinity": "latency and rate of whatever benchmark was placed both ways",
    "mpi-port-bound": "the best rate of whatever benchmark",
    "mpi-ranks": "the rates of whatever the program's class tells",
    "mpi-collective-buffer": "the rates of whatever the program's class tells",
}
_CAPACITY = ("goodput", "loss", "offered_load", "capacity", "capacity_low", "capacity_high", "available_bandwidth")
# Of the others: the metrics of what they weigh.
METRICS: Mapping[str, tuple[str, ...]] = {
    "gridftp-options": _RATE,
    "gridftp-parallel": _RATE,
    "path-capacity": _CAPACITY,
    "path-bottleneck": _CAPACITY,
    "path-loss": ("loss", "offered_load", "goodput"),
    "path-datagrams": ("loss", "offered_load", "goodput"),
    "path-modes": _RATE,
    "path-levels": _RATE,
    "path-directions": _RATE,
    "path-unexplained": _RATE,
    "path-silence": _RATE,
    "tcp-bdp": _TCP,
    "tcp-limit": _TCP,
    "tcp-per-flow-limit": _TCP,
    "tcp-window-knee": _TCP,
    "tcp-streams": ("goodput", "fairness", "retransmits"),
    "tcp-best-setting": _RATE,
    "tcp-sysctl": _TCP,
    "tcp-buffer-maxima": ("goodput", "window_granted"),
    "tcp-autotuning": _RATE,
    "tcp-window-scaling": _TCP,
    "tcp-sack": ("goodput", "retransmits"),
    "tcp-timestamps": _RATE,
    "tcp-congestion": ("goodput", "retransmits"),
    "tcp-pacing": ("goodput", "retransmits", "loss"),
    "tcp-mtu": _RATE,
    "tcp-path-mtu": ("goodput", "retransmits"),
    "mpi-contention": ("bandwidth_pair", "bandwidth_alone", "bandwidth_least", "aggregate", "fairness", "slowdown"),
    "storage-clients-alike": FILES,
    "storage-modes": FILES,
    "storage-silence": FILES,
    "storage-cached-reads": FILES,
    "storage-nfs-transfer": FILES,
    "storage-lustre-requests": FILES,
    "storage-gpfs-sockets": FILES,
    "storage-gpfs-client": FILES,
}
# The values of a title or of reasons by which these name a metric, whether their words say it or not.
METRIC, PATTERN = "metric", "pattern"


def named_in(figures: Iterable[Any]) -> frozenset[str]:
    """Return the metrics that the figures of a finding's proof, title and reasons name, or name by a pattern."""
    metrics: set[str] = set()
    for item in figures:
        if isinstance(item, Mapping):
            of_pattern = METRICS_OF_PATTERNS.get(str(item.get(PATTERN)), ())
            metrics.update(of_pattern or ([str(item[METRIC])] if item.get(METRIC) else []))
    return frozenset(metrics)


def metrics_of(rule: str, names: Iterable[str] = ()) -> frozenset[str]:
    """Return the metrics that a finding rests on: those it names, else those of its rule; none where all do."""
    metrics = frozenset(names)
    return metrics or frozenset(METRICS.get(rule, ()))
