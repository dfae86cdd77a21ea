"""Cases of MPI: collective I/O, and the network between and within nodes."""

import math
from typing import Any

from apps.bench.rules.base import Ratio, Trend
from apps.bench.rules.shapes import FLAT
from apps.tuning.published.cases.base import CaseReading, PublishedCase
from apps.tuning.published.drafts import Setup

# "No effect", "hardly": alike within this share.
ALIKE = 0.05


def btio(case: PublishedCase) -> CaseReading:
    """Return what the paper says in words of its figures: which setting of each factor is better, or that none is."""
    given, nodes = case.given, case.world.machines("Power 595", "KISTI", 16)
    case.world.add("clusters", "Power 595", nodes=list(nodes))
    listed = {
        name: {item.text() for item in given.get(name).items()} if given.has(name) else set()
        for name in ("classes", "node_placement", "core_placement")
    }
    blocks = sorted(
        {item.whole() for item in given.get("gpfs_block_bytes").items()} if given.has("gpfs_block_bytes") else ()
    )
    file_systems = {
        block: case.world.add(
            "file_systems",
            f"GPFS_P595_{block // 1024}K",
            kind="gpfs",
            server_cluster="Power 595",
            mount_path=f"/gpfs/p595-{block // 1024}k",
            block_size=block,
        )
        for block in (blocks or [2**20])
    }
    largest = file_systems[max(file_systems)]
    ratios: list[Ratio] = []
    trends: list[Trend] = []
    of: dict[str, Any]
    to: dict[str, Any]
    if len(blocks) > 1 and case.says(r"1 MiB blocks beat 512 KiB throughout"):
        of, to = [
            {"file_system": file_systems[block], "file_system_block": block} for block in (blocks[-1], blocks[0])
        ]
        ratios.append(Ratio("btio", "io_rate", of, to, 1.0, math.inf))
    if {"DIST", "ACC"} <= listed["core_placement"] and case.says(r"placement inside a node has no effect"):
        of, to = [{"core_placement": name} for name in ("DIST", "ACC")]
        ratios.append(Ratio("btio", "io_rate", of, to, 1 - ALIKE, 1 + ALIKE))
    spread = {"BAL", "UNBAL"} <= listed["node_placement"]
    if spread and "C" in listed["classes"] and case.says(r"\(BAL\) helps class C"):
        of, to = [{"problem": "C", "node_placement": name} for name in ("BAL", "UNBAL")]
        ratios.append(Ratio("btio", "io_rate", of, to, 1.0, math.inf))
    if "A" in listed["classes"] and case.says(r"class A does not gain from more processes"):
        trends.append(Trend("btio", "io_rate", "ranks", FLAT, fixed={"problem": "A"}))
    setup = Setup(
        "BTIO",
        "btio",
        {"node": nodes},
        file_system=largest,
        ratios=tuple(ratios),
        trends=tuple(trends),
        version="3.3",
    )
    return CaseReading((setup,))


def tachyon_intra(case: PublishedCase) -> CaseReading:
    """Return the ratios between two machines, within and across sockets."""
    nodes = {name: case.world.machines(name, "KISTI", 1) for name in ("Tachyon 1", "Tachyon 2")}
    ratios = []
    if by_name := case.given.find("ratio_t2_over_t1"):
        for name, placement in (("intra_socket", "same-socket"), ("inter_socket", "other-socket")):
            if ratio := by_name.find(name):
                of, to = ({"testbed": testbed, "placement": placement} for testbed in ("Tachyon 2", "Tachyon 1"))
                ratios.append(Ratio("osu-bandwidth", "bandwidth", of, to, ratio.number(), ratio.number()))
    if ratios and case.says(r"on Tachyon 1 they hardly do"):
        of, to = ({"testbed": "Tachyon 1", "placement": name} for name in ("same-socket", "other-socket"))
        ratios.append(Ratio("osu-bandwidth", "bandwidth", of, to, 1 - ALIKE, 1 + ALIKE))
    setup = Setup("Tachyon 2", "osu-bandwidth", {"node": nodes["Tachyon 2"]}, ratios=tuple(ratios), version="3.2")
    return CaseReading((setup,))


def tachyon_contention(case: PublishedCase) -> CaseReading:
    """Return that flows share a node's bandwidth: what all have together stays the same."""
    nodes = case.world.machines("Tachyon 2", "KISTI", 2)
    trends = []
    printed = case.given.find("per_flow")
    if printed and "".join(printed.text().split()) == "max/flows":
        trends.append(Trend("mpi-contention", "aggregate", "pairs", FLAT))
    return CaseReading(
        (Setup("Concurrent flows", "mpi-contention", {"node": nodes}, trends=tuple(trends), version="3.2"),)
    )
