"""Worlds made by hand, and statements about them."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from benchmarks.truth.judging.judge import judge
from benchmarks.truth.statements import FINDING, Statement
from benchmarks.truth.worlds import tcp
from benchmarks.truth.worlds.base import Cell, Setup, Trial
from benchmarks.truth.worlds.network import NetworkWorld
from benchmarks.truth.worlds.noise import NORMAL, Noise
from benchmarks.truth.worlds.storage import READ, WRITE, StorageWorld
from benchmarks.truth.worlds.tcp import Host, Line, Way

SYSCTLS = {
    tcp.RMEM: "4096 131072 1000000", tcp.WMEM: "4096 16384 1000000", tcp.RMEM_MAX: "250000", tcp.WMEM_MAX: "500000",
    tcp.SCALING: "1", tcp.TUNING: "1", tcp.SACK: "1", tcp.PROBING: "0", tcp.CONTROL: "reno",
}  # fmt: skip
HOST = Host("client", 1e10, 1500, 5e9, 1e10, SYSCTLS, share=0.5)
WAY = Way((Line("A – B", 1e9, 0.01, 1500),))
QUIET = Noise(NORMAL, 0.01)


def cell(goodput: float, **parameters: Any) -> Cell:
    return Cell(parameters, {"goodput": goodput}, [Trial({"goodput": goodput})] * 3)


def network(*cells: Cell, way: Way | None = None, client: Host = HOST, **fields: Any) -> NetworkWorld:
    """Return a path of 1 Gbit/s and 10 ms whose hosts' windows allow 400 Mbit/s, with a TCP experiment."""
    setup = Setup(
        "TCP", "iperf3-tcp", {"client": ("client",), "server": ("server",)}, cells, fields.pop("factors", ())
    )
    return NetworkWorld(
        seed=1, noise=QUIET, repetitions=3, nodes=(), setups=(setup, *fields.pop("setups", ())), client=client,
        server=replace(HOST, name="server"), way=way or Way((Line("A – B", 1e9, 0.01, 1500),)), **fields,
    )  # fmt: skip


def finding(rule: str, title: str = "", **fields: Any) -> Statement:
    params = fields.pop("params", {})
    told = {"kind": "diagnosis", "why": [], "title": {"msgid": title, "params": params}, **fields}
    return Statement(FINDING, rule, told, trials=tuple(range(100)))


def outcome(world: Any, statement: Statement) -> str:
    cells = [(setup, item, item.trials[0]) for setup in world.setups for item in setup.cells]
    stored = SimpleNamespace(trials=dict(enumerate(cells)))
    return judge(world, stored, statement).outcome


def storage(**changes: object) -> StorageWorld:
    values: dict[str, object] = {
        "seed": 1, "noise": Noise(NORMAL, 0.01), "repetitions": 3, "nodes": (), "kind": "lustre",
        "clients": ("c1", "c2", "c3", "c4"), "servers": ("s1", "s2"), "client_nic_bps": 1e9, "server_nic_bps": 1e9,
        "wide_bps": 1e10, "rtt_s": 0.001, "window": 1e6, "software": 1e9, "latency": 0.001,
        "disk": {WRITE: 100e6, READ: 200e6}, "share": 1.0, "decline": 0.0,
    }  # fmt: skip
    return StorageWorld(**values | changes)


WINDOWED = network(cell(4e8, window=0, streams=1))
RECOMMENDED = {"kind": "recommendation"}
