"""Evidence for the rules: made up from the law of the window, or read from recorded sweeps."""

import dataclasses
import functools
import itertools
import json
import re

from apps.bench import tools
from apps.bench.rules.base import Evidence, PathFacts, Point
from apps.bench.toolkit import harmonic_metrics
from tests.bench.tools import recordings

KIB = 1024
TCP, UDP, PING = tools.get("iperf3-tcp"), tools.get("iperf3-udp"), tools.get("ping")
LINKS = PathFacts(1_000_000_000, 0.0048, 9000)
UNITS = {"K": KIB, "M": KIB * KIB}


class Maker:
    """Makes points with trial ids of their own."""

    def __init__(self):
        self.ids = itertools.count(1)

    def point(self, tool, parameters, *samples):
        """Return a point of one trial for each dict of samples."""
        metrics = {}
        for sample in samples:
            trial = next(self.ids)
            for metric, value in sample.items():
                metrics.setdefault(metric, {})[trial] = value
        clean = tool.clean(parameters)
        return Point(clean, metrics, tool=tool.slug, harmonic=harmonic_metrics(tool, [clean]))

    def ping(self, *rtts):
        return self.point(PING, {}, *({"rtt_min": rtt, "rtt_mean": rtt * 1.1} for rtt in rtts))

    def tcp(self, rates, window=0, streams=1, observed=None, rtt=0.005, **parameters):
        """Return a TCP point; its observed window is the one that allows its rate, unless it is given."""
        samples = [
            {
                "goodput": rate,
                "window_observed": observed if observed is not None else rate * rtt / 8 / streams,
                "mean_rtt": rtt,
                "min_rtt": rtt,
                # As iperf3 prints of both ends.
                "cpu_local": 20.0,
                "cpu_remote": 15.0,
                **({"window_granted": 2 * window} if window else {}),
            }
            for rate in rates
        ]
        return self.point(TCP, {"window": window, "streams": streams, **parameters}, *samples)

    def udp(self, goodput, loss, **parameters):
        return self.point(UDP, parameters, {"goodput": goodput, "loss": loss, "jitter": 0.0, "out_of_order": 0.0})

    def window_sweep(self, rates, **parameters):
        """Return points of {window in KiB: rates in Mbit/s}."""
        return [
            self.tcp([rate * 1e6 for rate in values], window=window * KIB, **parameters)
            for window, values in rates.items()
        ]

    def stream_sweep(self, rates, **parameters):
        """Return points of {streams: rates in Mbit/s}."""
        return [
            self.tcp([rate * 1e6 for rate in values], streams=streams, **parameters)
            for streams, values in rates.items()
        ]

    def recorded(self, folder):
        """Return the points of a recorded sweep, read by the tool's own parser; CUBIC was the system's choice."""
        points = []
        for name in recordings.names("iperf3-tcp", "*.json"):
            match = re.match(
                rf"{folder}/(?:P(?P<streams>\d+)_)?w(?P<window>auto|\d+[KM])_(?P<congestion>\w+)_r\d", name
            )
            if not match:
                continue
            window = 0 if match["window"] == "auto" else int(match["window"][:-1]) * UNITS[match["window"][-1]]
            congestion = "" if match["congestion"] == "cubic" else match["congestion"]
            parameters = {"window": window, "streams": int(match["streams"] or 1), "congestion": congestion}
            points.append(self.read(name, **parameters))
        assert points, folder
        return points

    def read(self, name, **parameters):
        """Return one recording as a point, with what the judges saw."""
        options, reading = _recorded(name)
        parameters = {**options, **parameters}
        point = self.point(TCP, parameters, {sample.metric: sample.value for sample in reading.samples})
        return dataclasses.replace(point, observed=reading.observed)


@functools.cache
def _recorded(name):
    """Return how long a recording took, as parameters, and its reading."""
    output = recordings.load("iperf3-tcp", name)
    start = json.loads(output.stdout)["start"]
    test = start["test_start"]
    parameters = {"duration": test["duration"], "omit": test["omit"]}
    request = {"window": start.get("sock_bufsize", 0), "streams": test["num_streams"]}
    return parameters, TCP.parse([output], TCP.clean({**parameters, **request}))


def evidence(points, path=LINKS, **facts):
    """Return evidence; `facts` are {role: sysctls}."""
    return Evidence(tuple(points), path, {role: {"sysctls": sysctls} for role, sysctls in facts.items()})


def gridftp(make, pattern="*.bin"):
    """Return the points of recorded third-party transfers, of tmpfs to tmpfs over the KISTI-Pusan line."""
    tool = tools.get("gridftp-third-party")
    points = []
    for name in recordings.names("gridftp-third-party", pattern):
        if name.startswith(("err", "vb")):
            continue
        output = recordings.load("gridftp-third-party", name)
        parameters = tool.clean({**tool.recover(output), **_options(name)})
        samples = {sample.metric: sample.value for sample in tool.parse([output], parameters).samples}
        # Of the shorter ones the client's tenths of a second are too large a part.
        if samples["transferred"] >= 500_000_000:
            points.append(make.point(tool, {**parameters, "size": 500_000_000}, samples))
    return points


def _options(name):
    """Return what a recording's name says of its options: its command line was not kept."""
    streams, window = re.search(r"p(\d+)", name), re.search(r"tcpbs(\d+)(k?)", name)
    options = {"streams": int(streams[1])} if streams else {}
    return options | ({"window": int(window[1]) * (KIB if window[2] else 1)} if window else {"window": 0})
