"""Cases of file systems: their share of the disk, how they go with clients and record sizes."""

from typing import Any

from apps.bench.rules.base import ABOUT, SAMPLE, Ratio, Trend
from apps.bench.rules.shapes import CLIENTS, RECORD, SATURATES
from apps.tuning.published.cases.base import STORAGE, CaseReading, PublishedCase, path_given, rates, shape, storage
from apps.tuning.published.drafts import PublishedValue, Setup

# The report's workload: 4 GB files, records of 1 MB, in sequence (section 2.나).
FILE, RECORD_SIZE = 4 * 2**30, 2**20
WORKLOAD = {"file_size": FILE, "record_size": RECORD_SIZE}


def x4500(case: PublishedCase) -> str:
    """Return the file system that the X4500 at KISTI serves."""
    nodes = case.world.machines("X4500", "KISTI", 1)
    case.world.add("clusters", "GPFS_X4500", nodes=list(nodes))
    return case.world.add(
        "file_systems", "GPFS_X4500", kind="gpfs", server_cluster="GPFS_X4500", mount_path="/gpfs/x4500"
    )


def nfs_pgfs(case: PublishedCase) -> str:
    """Return what PGFS01 serves over NFS."""
    nodes = case.world.machines("PGFS", "PNU", 1)
    case.world.add("clusters", "NFS_PGFS", nodes=list(nodes))
    return case.world.add("file_systems", "NFS_PGFS", kind="nfs", server_cluster="NFS_PGFS", mount_path="/nfs/pgfs")


def raid_pgfs(case: PublishedCase, kind: str = "other") -> str:
    """Return the mirrored disks of PGFS01 that NFS exports."""
    nfs_pgfs(case)
    name = "RAID1_PGFS" if kind == "other" else "EXT3_PGFS"
    return case.world.add(
        "file_systems", name, kind=kind, server_cluster="NFS_PGFS", mount_path=f"/{name.lower()}", disks="RAID 1"
    )


def nfs_after_tuning(case: PublishedCase) -> CaseReading:
    """Return the share of ext3 that NFS reaches."""
    nfs, disk = nfs_pgfs(case), raid_pgfs(case, "ext")
    ratios = []
    if shares_given := case.given.find("nfs_share_of_ext3"):
        shares = [item.number(maximum=10.0) for item in shares_given.items()]
        of = {"file_system": nfs, "file_system_kind": "nfs"}
        to = {"file_system": disk, "file_system_kind": "ext"}
        if shares:
            ratios = [Ratio(STORAGE, name, of, to, min(shares), max(shares)) for name in ("write", "read")]
    clients = {"client": case.world.machines("KGFS", "KISTI", 1)}
    return CaseReading((Setup("NFS beside ext3", STORAGE, clients, file_system=nfs, ratios=tuple(ratios)),))


def x4500_storage(case: PublishedCase) -> CaseReading:
    """Return ext3 on the server's disks, and what GPFS loses of it."""
    gpfs, server = x4500(case), case.world.machines("X4500", "KISTI", 1)
    clients = case.world.machines("KGFS", "KISTI", 4)
    disks, spec = case.given.find("disks"), case.given.find("spec_B_per_s")
    text = " ".join(
        part
        for part in (
            f"{disks.whole(maximum=10**5)} SATA disks" if disks else "",
            f"{spec.number() / 1e6:g} MB/s by specification" if spec else "",
        )
        if part
    )
    local = case.world.add(
        "file_systems", "EXT3_X4500", kind="ext", server_cluster="GPFS_X4500", mount_path="/ext3", disks=text or None
    )
    ext3, loss = case.given.find("ext3_B_per_s"), case.given.find("gpfs_loss")
    setups = []
    if ext3:
        values = dict.fromkeys(("write", "read"), ext3.number())
        setups.append(storage("ext3", server, local, PublishedValue(ext3.place, WORKLOAD, values, SAMPLE)))
    if ext3 and loss:
        share = 1 - loss.share()
        values = dict.fromkeys(("write", "read"), ext3.number() * share)
        figures = (PublishedValue(loss.place, WORKLOAD, values, ABOUT),) if share else ()
        of = {"file_system": gpfs, "file_system_kind": "gpfs"}
        to = {"file_system": local, "file_system_kind": "ext"}
        ratios = tuple(Ratio(STORAGE, name, of, to, share, share) for name in ("write", "read"))
        roles = {"client": clients}
        setups.append(Setup("GPFS", STORAGE, roles, file_system=gpfs, figures=figures, ratios=ratios))
    maximum = case.given.find("network_bit_per_s")
    return CaseReading(tuple(setups), {"most_bps": maximum.number()} if maximum else {})


def lan_client_saturation(case: PublishedCase) -> CaseReading:
    """Return the number of clients from which on the sum grows no more."""
    trends = []
    if by_metric := case.given.find("saturates_at_clients"):
        trends = [
            Trend(STORAGE, name, CLIENTS, SATURATES, knee=float(knee), file_system="GPFS_X4500", fixed=WORKLOAD)
            for name, knee in rates(by_metric).items()
        ]
    clients = case.world.machines("KGFS", "KISTI", 4)
    return CaseReading((storage("Clients", clients, x4500(case), trends=tuple(trends)),))


def wan_gpfs_full(case: PublishedCase) -> CaseReading:
    """Return the sum over the clients beyond the wide area link."""
    clients = case.world.machines("PGFS", "PNU", 4)
    figures = []
    if rate := case.given.find("aggregate_B_per_s"):
        figures.append(PublishedValue(rate.place, WORKLOAD, dict.fromkeys(("write", "read"), rate.number()), SAMPLE))
    return CaseReading((storage("GPFS", clients, x4500(case), *figures),), path_given(case, "bottleneck_bit_per_s"))


def nfs_does_not_scale(case: PublishedCase) -> CaseReading:
    """Return the disk, what NFS makes of it at best, and how that goes with clients."""
    nfs, disk = nfs_pgfs(case), raid_pgfs(case)
    server, clients = case.world.machines("PGFS", "PNU", 1), case.world.machines("KGFS", "KISTI", 4)
    setups = []
    if rate := case.given.find("disk_B_per_s"):
        setups.append(storage("Disk", server, disk, PublishedValue(rate.place, WORKLOAD, rates(rate), SAMPLE)))
    trends: tuple[Trend, ...] = ()
    if printed := case.given.find("trend_with_clients"):
        form = shape(printed)
        trends = tuple(
            Trend(STORAGE, name, CLIENTS, form, file_system=nfs, fixed=WORKLOAD) for name in ("write", "read")
        )
    figures = []
    if rate := case.given.find("nfs_B_per_s"):
        figures.append(PublishedValue(rate.place, {**WORKLOAD, "clients": 1}, rates(rate), SAMPLE))
    setups.append(storage("NFS", clients, nfs, *figures, trends=trends))
    return CaseReading(tuple(setups))


def block_size_insensitive(case: PublishedCase) -> CaseReading:
    """Return how the rate goes with the record size, near the server and beyond the wide area link."""
    file_system = x4500(case)
    fixed: dict[str, Any] = {"pattern": pattern.text()} if (pattern := case.given.find("pattern")) else {}
    if size := case.given.find("file_bytes"):
        fixed |= {"file_size": size.whole()}
    printed, rate = case.given.find("trend_with_block_size"), case.given.find("wan_B_per_s")
    form = shape(printed) if printed else ""
    setups = []
    for name, testbed, site in (("LAN", "KGFS", "KISTI"), ("WAN", "PGFS", "PNU")):
        best = rate.number() if rate and name == "WAN" else None
        trends = tuple(
            Trend(
                STORAGE, metric, RECORD, form, best=best, file_system=file_system, fixed={**fixed, "testbed": testbed}
            )
            for metric in ("write", "read")
            if form
        )
        clients = case.world.machines(testbed, site, 4)
        setups.append(storage(f"Record size, {name}", clients, file_system, trends=trends))
    return CaseReading(tuple(setups))


def kigfs_server(case: PublishedCase) -> CaseReading:
    """Return two kinds of client of one server."""
    servers = [*case.world.machines("KIGFS", "KISTI", 4), *case.world.machines("HEXA", "KISTI", 1)]
    case.world.add("clusters", "GPFS_KIGFS", nodes=servers)
    block, size = case.given.find("block_bytes"), case.given.find("file_bytes")
    file_system = case.world.add(
        "file_systems",
        "GPFS_KIGFS",
        kind="gpfs",
        server_cluster="GPFS_KIGFS",
        mount_path="/gpfs/kigfs",
        block_size=block.whole() if block else None,
    )
    own = {"record_size": block.whole()} if block else {}
    own |= {"file_size": size.whole()} if size else {}
    setups = []
    for testbed in ("PGFS", "PDAISY"):
        if rates_given := case.given.find(testbed):
            clients = case.world.machines(testbed, "PNU", 5)
            setups.append(
                storage(
                    testbed, clients, file_system, PublishedValue(rates_given.place, own, rates(rates_given), SAMPLE)
                )
            )
    return CaseReading(tuple(setups))
