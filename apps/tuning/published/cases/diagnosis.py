"""The case of the polarised writes, and of the tasks that fill the link."""

from apps.bench import network
from apps.bench.rules.base import ABOUT, AT_LEAST, MODE, SAMPLE, Trend
from apps.bench.rules.shapes import RISES, TASKS
from apps.tuning.published.cases.base import STORAGE, TCP, TUNED_WINDOW, CaseReading, PublishedCase, rates, storage
from apps.tuning.published.cases.file_systems import FILE, nfs_pgfs, raid_pgfs
from apps.tuning.published.drafts import PublishedValue, Setup

# Five nodes serve the file system, and each opens a flow of its own (section 3.다).
FLOWS = 5
# The links that carry this have no MTU in the file.
USUAL_MTU = 1500
# As of the file system that is looked at (section 3.나).
WORKLOAD = {"file_size": FILE, "record_size": 262_144}


def pdaisy(case: PublishedCase) -> str:
    """Return the file system that PGFS and PDAISY at PNU serve."""
    nodes = [*case.world.machines("PGFS", "PNU", 5), *case.world.machines("PDAISY", "PNU", 5)]
    case.world.add("clusters", "GPFS_PDAISY", nodes=nodes)
    return case.world.add(
        "file_systems", "GPFS_PDAISY", kind="gpfs", server_cluster="GPFS_PDAISY", mount_path="/gpfs/pdaisy"
    )


def pdaisy_server_polarised(case: PublishedCase) -> CaseReading:
    """Return the two levels of writing, and network, disk and NFS each alone."""
    gpfs = pdaisy(case)
    clients = case.world.machines("KGFS", "KISTI", 4)
    servers = case.world.machines("PGFS", "PNU", 5)
    figures = []
    if figures_given := case.given.find("read_B_per_s_at_least"):
        figures.append(PublishedValue(figures_given.place, WORKLOAD, {"read": figures_given.number()}, AT_LEAST))
    if figures_given := case.given.find("write_modes_B_per_s"):
        modes = figures_given.items()
        statistic = MODE if len(modes) > 1 else SAMPLE
        figures += [PublishedValue(item.place, WORKLOAD, {"write": item.number()}, statistic) for item in modes]
    setups = [storage("GPFS", clients, gpfs, *figures), *_network(case, servers[:1])]
    if figures_given := case.given.find("disk_B_per_s"):
        san = case.world.add(
            "file_systems", "SAN_PGFS", kind="other", server_cluster="GPFS_PDAISY", mount_path="/san", disks="SAN"
        )
        setups.append(
            storage("Disk", servers, san, PublishedValue(figures_given.place, WORKLOAD, rates(figures_given), SAMPLE))
        )
    if figures_given := case.given.find("nfs_disk_B_per_s"):
        raid = raid_pgfs(case)
        setups.append(
            storage(
                "Disk of NFS",
                servers[:1],
                raid,
                PublishedValue(figures_given.place, WORKLOAD, rates(figures_given), SAMPLE),
            )
        )
    if figures_given := case.given.find("nfs_B_per_s"):
        nfs = nfs_pgfs(case)
        for testbed, rates_of_testbed in figures_given.members():
            own = case.world.machines(testbed, "KISTI", 1)
            figure = PublishedValue(
                rates_of_testbed.place, {**WORKLOAD, "clients": 1}, rates(rates_of_testbed), SAMPLE
            )
            setups.append(storage(f"NFS, {testbed}", own, nfs, figure))
    return CaseReading(tuple(setups))


def _network(case: PublishedCase, server: tuple[str, ...]) -> list[Setup]:
    """Return the sums over five flows, {testbed: [sent, received]}, each direction an experiment."""
    by_testbed = case.given.find("network_bit_per_s")
    setups = []
    for testbed, rates_of_testbed in by_testbed.members() if by_testbed else ():
        client = case.world.machines(testbed, "KISTI", 1)
        directions = (
            ("sending", {"client": client, "server": server}),
            ("receiving", {"client": server, "server": client}),
        )
        for (name, roles), item in zip(directions, rates_of_testbed.items(), strict=False):
            parameters = {"window": TUNED_WINDOW, "streams": FLOWS}
            figure = PublishedValue(item.place, parameters, {"goodput": item.number()}, SAMPLE)
            setups.append(Setup(f"Network, {testbed} {name}", TCP, roles, figures=(figure,)))
    return setups


def write_grows_with_tasks(case: PublishedCase) -> CaseReading:
    """Return the sum at the most tasks, and that it grew up to there."""
    gpfs = pdaisy(case)
    # Nine nodes at KISTI mount it: so many tasks are one on each.
    clients = tuple(
        node
        for testbed, count in (("KGFS", 4), ("KIGFS", 4), ("HEXA", 1))
        for node in case.world.machines(testbed, "KISTI", count)
    )
    figures, trends = [], []
    tasks, rate = case.given.find("tasks"), case.given.find("aggregate_write_B_per_s")
    if tasks and rate:
        count = tasks.whole(maximum=1000)
        parameters = {"file_size": FILE, "clients": min(count, len(clients)), "threads": 1}
        if count > len(clients):
            parameters |= {"clients": 1, "threads": count}
        figures.append(PublishedValue(rate.place, parameters, {"write": rate.number()}, ABOUT))
        if case.says(r"aggregate write grows with the number of tasks"):
            fixed = {"file_size": FILE}
            trends.append(Trend(STORAGE, "write", TASKS, RISES, best=rate.number(), file_system=gpfs, fixed=fixed))
    ceiling = case.given.find("ceiling_B_per_s")
    # The report's ceiling is what is left for the data: the line itself has so much more.
    path = {"capacity_bps": 8 * ceiling.number() / network.tcp_efficiency(USUAL_MTU)} if ceiling else {}
    return CaseReading((storage("Tasks", clients, gpfs, *figures, trends=tuple(trends)),), path)
