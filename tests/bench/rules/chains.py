"""Whole chains of evidence, drawn: network, disk, file system and clients of one metric, and sweeps of any tool.

Parameters and metrics are those of the registered tools, layers and ends as `apps.tuning.evidence` gives them; the
figures are what a healthy run prints, and what no run should: equal, far apart, none, below zero, infinite.
"""

import itertools
import math

from hypothesis import strategies as st

from apps.bench import tools
from apps.bench.rules.base import (
    DISK,
    FILE_SYSTEM,
    INTERCONNECT,
    NETWORK,
    Evidence,
    FileSystemFacts,
    LinkFacts,
    PathFacts,
    Point,
    Ratio,
    Trend,
)
from apps.bench.rules.shapes import BLOCK, CLIENTS, FALLS, FLAT, RECORD, RISES, SATURATES, TASKS
from apps.bench.toolkit import ParameterError

CLIENT_NODES, SERVER_NODES = ("c1", "c2", "c3"), ("s1", "s2")
LAYERS = {"network": NETWORK, "storage": FILE_SYSTEM, "mpi": INTERCONNECT, "transfer": NETWORK}
# What the repetitions of one point are of its level: one, equal, alike, 16 % apart, far apart, outlandish.
SCATTERS = [
    *([1.0], [1.0], [1.0, 1.0], [1.0, 1.02], [1.0, 1.17], [1.0, 1.17], [1.0, 1.6], [1.0, 9.0], [1.0, 1.01, 0.99]),
    *([1.0, 1.2, 5.0, 5.1], [0.0], [0.0, 1.0], [-1.0], [-1.0, 2.0], [1e-12, 1.0], [1e300], [1e308, 1e308]),
    *([1e-320, 1.0], [math.inf], [math.inf, 1.0], [math.nan, 1.0]),
]
# Some chains have only usual figures, for one outlandish one silences most rules.
USUAL = st.sampled_from(SCATTERS[:9])
STRANGE = st.sampled_from([*SCATTERS[:9], *SCATTERS])
LEVELS = {"bit/s": 5e8, "B/s": 5e7, "s": 0.01, "B": 1e6, "fraction": 0.02, "%": 20.0, "1": 0.9}
KERNEL = {"window_limited_s": 4.0, "busy_s": 5.0, "mss": 500, "path_mtu": 552, "rtt_s": 0.0}
INTERFACES = [
    {"name": "eth0", "speed_bps": 1e10, "duplex": "half", "state": "up", "addresses": ["192.0.2.1"]},
    {"name": "", "speed_bps": 0},
]
SWEPT = [
    *(("window", (65536, 262144, 1048576, 0)), ("window", (0,)), ("window", (4194304, 65536))),
    *(("streams", (1, 2, 4, 8)), ("streams", (4, 1)), ("congestion", ("reno", "cubic", "bbr"))),
]
# Sweeps that rules ask for, with the metrics they read.
FACTORS = [
    *(("gridftp", "streams", "throughput"), ("gridftp", "window", "throughput"), ("tracepath", "length", "path_mtu")),
    *(("mpi-pingpong", "placement", "bandwidth", "latency"), ("mpi-pingpong", "distance", "latency")),
    *(("mpi-contention", "pairs", "aggregate", "fairness"), ("osu-bandwidth", "placement", "bandwidth")),
    *(("btio", "ranks", "io_rate", "io_time"), ("btio", "node_placement", "io_rate"), ("btio", "subtype", "io_time")),
    *(("btio", "collective_nodes", "io_rate"), ("btio", "collective_size", "io_rate"), ("ior", "ranks", "write")),
    *(("btio", "core_placement", "io_time"), ("iozone", "record_size", "write", "read"), ("pathrate", "quick")),
    *(("iozone", "threads", "write"), ("nuttcp", "streams", "goodput"), ("pathload", "resolution")),
]
shares = st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.72, 0.9, 1.0, 1.03, 1.3, 2.0])
mtus = st.sampled_from([None, 1500, 9000])
kinds = st.sampled_from(["gpfs", "nfs", "lustre", "other", "xfs", "ext"])


@st.composite
def chains(draw):
    """Draw the evidence of one campaign."""
    make = _Chain(draw)
    make.files()
    make.network()
    if draw(st.booleans()):
        make.flows()
    for _more in range(draw(st.integers(0, 2))):
        make.sweep(*draw(st.sampled_from(FACTORS)))
    for _more in range(draw(st.integers(0, 2))):
        make.sweep()
    return make.evidence()


class _Chain:
    """Draws the points of one campaign, whose trials are numbered as they come."""

    def __init__(self, draw):
        self._draw, self._ids = draw, itertools.count(1)
        self._points, self._facts = [], {}
        self._scatters = draw(st.sampled_from([st.sampled_from(SCATTERS[1:4]), USUAL, STRANGE, STRANGE]))
        self._clients = CLIENT_NODES[: draw(st.integers(1, 3))]
        self._servers = SERVER_NODES[: draw(st.integers(1, 2))]

    def files(self):
        """Add a file system or two, the disks beneath, and clients of one metric."""
        draw = self._draw
        metric = draw(st.sampled_from(["write", "read"]))
        disk = 1e8 * draw(shares)
        self._facts["raid"] = self._described("raid", "xfs", options={})
        if draw(st.integers(0, 3)):
            for server in self._servers:
                self._io("raid", DISK, (server,), {metric: disk})
        for name in ("one", "two")[: draw(st.integers(1, 2))]:
            self._facts[name] = self._described(name, draw(kinds), options=draw(_options))
            level = disk * draw(shares)
            counts = draw(st.sampled_from([(1,), (1, 2), (1, 2, 3)]))
            for count in counts:
                self._io(name, FILE_SYSTEM, self._clients[:count], {metric: level * count}, clients=count)
            if draw(st.booleans()):
                self._io(name, FILE_SYSTEM, ("c9",), {metric: level}, clients=1)

    def network(self):
        """Add TCP of each client to a server, the RTT, and UDP up to the capacity."""
        draw = self._draw
        level = 1e9 * draw(shares)
        for client in self._clients[: draw(st.integers(0, 3))]:
            self._measure("iperf3-tcp", NETWORK, {"client": (client,), "server": self._servers[:1]}, goodput=level)
        ends = {"client": self._clients[:1], "server": self._servers[:1]}
        if draw(st.booleans()):
            self._measure("ping", NETWORK, ends, rtt_min=0.005, rtt_mean=0.006)
        for rate in draw(st.sampled_from([(), (10**8,), (10**8, 5 * 10**8, 10**9)])):
            loss = {"goodput": rate * draw(shares), "offered_load": float(rate), "loss": 0.1 * draw(shares)}
            self._measure("iperf3-udp", NETWORK, ends, parameters={"rate": rate}, **loss)

    def flows(self):
        """Add a sweep of TCP's windows, streams or congestion controls, whose rate grows or does not."""
        draw = self._draw
        factor, values = draw(st.sampled_from(SWEPT))
        # One stream may carry what a client of the file system has.
        alike = [8 * rate for point in self._points for name in ("write", "read") for rate in point.values(name)[:1]]
        level = draw(st.sampled_from([1e8, *alike])) * draw(shares)
        grows = draw(st.sampled_from([0.0, 0.5, 1.0, 2.0]))
        ends = {"client": self._clients[:1], "server": self._servers[:1]}
        kernel = draw(st.sampled_from([{}, {"mss": 1448}, {"mss": 0, "tcp": {}}, {"mss": 8948, "tcp": KERNEL}]))
        route = draw(st.sampled_from([{}, {"route": [["a"], ["b"]]}, {"route": [[], ["c"]]}]))
        for place, value in enumerate(values):
            rate = level * (1 + place * grows)
            figures = {"goodput": rate, "window_observed": rate * 0.005 / 8, "mean_rtt": 0.005, "retransmits": 3.0}
            figures["window_granted"] = 131072.0
            names = draw(st.sampled_from([tuple(figures), ("goodput",)]))
            levels = {name: figures[name] for name in names}
            self._measure("iperf3-tcp", NETWORK, ends, parameters={factor: value}, observed=kernel | route, **levels)

    def sweep(self, slug="", factor="", *names):
        """Add a sweep of one factor of a tool, of some of its metrics; of any, unless they are named."""
        draw = self._draw
        tool = tools.get(slug) if slug else draw(st.sampled_from(tools.all_tools()))
        parameters = [parameter for parameter in tool.parameters if factor in ("", parameter.name)]
        axis = draw(st.sampled_from(parameters))
        metrics = [metric for metric in tool.metrics if metric.name in names]
        metrics = metrics or draw(st.lists(st.sampled_from(tool.metrics), min_size=1, max_size=4, unique=True))
        nodes = itertools.cycle([self._clients, self._servers])
        roles = {role.name: next(nodes) for role in tool.roles}
        for value in _values_of(axis, tool):
            levels = {item.name: LEVELS.get(item.unit, 100.0) * draw(shares) for item in metrics}
            self._measure(tool.slug, LAYERS[tool.group], roles, parameters={axis.name: value}, **levels)

    def evidence(self):
        """Return all of it, with what is described and printed."""
        draw = self._draw
        capacity, rtt = draw(st.sampled_from([None, 1e6, 1e9, 1e11])), draw(st.sampled_from([None, 0.0, 1e-4, 0.3]))
        links = tuple(
            LinkFacts(name, capacity, rtt, draw(st.sampled_from([None, 1500, 9000]))) for name in ("l", "m")
        )
        path = PathFacts(capacity, rtt, draw(mtus), links, draw(st.sampled_from(["", "l"])))
        are_paths_known = draw(st.booleans())
        sysctls, interfaces = draw(_sysctls), draw(st.sampled_from([None, [], INTERFACES]))
        return Evidence(
            tuple(self._points),
            path,
            facts={
                name: {"sysctls": sysctls, "interfaces": interfaces}
                for name in ("client", "server", *self._clients, *self._servers)
            },
            paths={(a, b): path for a in self._clients for b in self._servers} if are_paths_known else {},
            interconnects=dict.fromkeys(self._clients, "InfiniBand 4X DDR"),
            file_systems=self._facts,
            trends=tuple(draw(st.lists(_trends, max_size=2))),
            ratios=tuple(draw(st.lists(_ratios, max_size=2))),
        )

    def _described(self, name, kind, options):
        rates = self._draw(st.sampled_from([{}, {"write": 0.0}, {"write": 1e8}, {"write": 1e8, "read": 3e8}]))
        block = self._draw(st.sampled_from([None, 262144]))
        return FileSystemFacts(name, kind, block, self._servers, options, 4, rates)

    def _io(self, file_system, layer, nodes, levels, **parameters):
        tool = self._draw(st.sampled_from(["iozone", "fio"]))
        self._measure(tool, layer, {"client": nodes}, file_system=file_system, parameters=parameters, **levels)

    def _measure(self, slug, layer, roles, *, file_system="", parameters=None, observed=None, **levels):
        """Add a point whose metrics have these levels, each scattered in its own way."""
        tool = tools.get(slug)
        if not file_system and tool.file_system == "required":
            file_system = "one"
        metrics = {name: [level * part for part in self._draw(self._scatters)] for name, level in levels.items()}
        trials = [next(self._ids) for _trial in range(max(map(len, metrics.values())))]
        options = {
            name: value for name, value in (parameters or {}).items() if name in {p.name for p in tool.parameters}
        }
        self._points.append(
            Point(
                tool.clean(options),
                {name: dict(zip(trials, values, strict=False)) for name, values in metrics.items()},
                tool=slug,
                layer=layer,
                roles=roles,
                file_system=file_system,
                observed=observed or {},
                at=float(len(self._points)),
            )
        )


def _values_of(factor, tool):
    """Return up to three values of a parameter that its tool takes, the least and a large one among them."""
    candidates = [value for value, _label in factor.choices] or [factor.minimum, factor.default, 4, 65536, 1048576]
    if factor.kind == "boolean":
        candidates = [False, True]
    return [value for value in dict.fromkeys(candidates) if value is not None and _is_taken(tool, factor, value)][:3]


def _is_taken(tool, factor, value):
    try:
        tool.clean({factor.name: value})
    except ParameterError:
        return False
    return True


_options = st.fixed_dictionaries(
    {},
    optional={
        name: st.sampled_from(values)
        for name, values in {
            "nconnect": [0, 1, 4],
            "wsize": [0, 4096, 1048576],
            "rsize": [4096, "x"],
            "stripe_count": [0, 1, -1],
            "max_rpcs_in_flight": [0, 8],
            "socketRcvBufferSize": [0, 65536],
            "maxMBpS": [0, 100],
            "pagepool": ["1G", 1024**3],
            "disk": ["raid"],
        }.items()
    },
)
_sysctls = st.fixed_dictionaries(
    {},
    optional={
        name: st.sampled_from(values)
        for name, values in {
            "net.core.rmem_max": ["212992", "0", "x", ""],
            "net.ipv4.tcp_rmem": ["4096 87380 6291456", "4096", "", "0 0 0"],
            "net.ipv4.tcp_wmem": ["4096 16384 4194304", "a b c"],
            "net.ipv4.tcp_window_scaling": ["0", "1"],
            "net.ipv4.tcp_sack": ["0"],
            "net.ipv4.ip_no_pmtu_disc": ["0", "1"],
            "net.ipv4.tcp_mtu_probing": ["0", "1"],
            "net.ipv4.tcp_timestamps": ["0"],
            "net.ipv4.tcp_moderate_rcvbuf": ["0", "1"],
            "net.ipv4.tcp_congestion_control": ["reno", "cubic", ""],
        }.items()
    },
)
_sides = st.sampled_from(
    [
        {"file_system": "one"},
        {"file_system": "raid"},
        {"node_placement": "BAL"},
        {"node_placement": "UNBAL"},
        {BLOCK: 262144},
        {BLOCK: 1048576},
        {},
    ]
)
_intervals = st.sampled_from(
    [(0.0, 0.7), (0.0, math.inf), (0.4, 0.4), (0.4, 0.7), (0.9, 1.1), (1.0, math.inf), (5.0, 9.0)]
)
_ratios = st.builds(
    lambda interval, **rest: Ratio(low=interval[0], high=interval[1], **rest),
    tool=st.sampled_from(["iozone", "btio", "gridftp"]),
    metric=st.sampled_from(["write", "io_rate", "io_time", "throughput"]),
    of=_sides,
    to=_sides,
    interval=_intervals,
)
_trends = st.builds(
    Trend,
    tool=st.sampled_from(["iozone", "btio", "iperf3-tcp", "gridftp", ""]),
    metric=st.sampled_from(["write", "io_rate", "goodput", "throughput"]),
    factor=st.sampled_from([CLIENTS, TASKS, RECORD, "window", "streams", "pairs"]),
    shape=st.sampled_from([RISES, FLAT, FALLS, SATURATES]),
    knee=st.sampled_from([None, 0.0, 4.0]),
    best=st.sampled_from([None, 0.0, 1e8]),
    file_system=st.sampled_from(["one", ""]),
)
