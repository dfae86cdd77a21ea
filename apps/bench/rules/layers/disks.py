"""Which local file systems lie beneath one that servers give to others, as far as the inventory says."""

from collections.abc import Sequence

from apps.bench.rules.base import Evidence, FileSystemFacts

# Kinds of file systems that lie on the disks of the node that measures them.
LOCAL = ("ext", "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "jfs", "local")
# The option of a file system that names the local one beneath it.
OPTION = "disk"


def disks_under(evidence: Evidence, facts: FileSystemFacts, measured: Sequence[str] = ()) -> list[FileSystemFacts]:
    """Return the local file systems that lie beneath one, [] where that is not known.

    Those that were `measured` as disks are local whatever their kind. It is the one named in the option `disk`; else
    they are on all of its servers: one by itself, or several that share none, all together. Of others the one whose
    servers are most alike, and none if that leaves a doubt. What another file system names as its own is not taken
    for the disk of one that names none.
    """
    systems = evidence.file_systems.values()
    local = [disk for disk in systems if disk.name != facts.name and (disk.kind in LOCAL or disk.name in measured)]
    if facts.options.get(OPTION):
        return [disk for disk in local if disk.name == facts.options[OPTION]]
    claims = {other.options.get(OPTION) for other in systems}
    return _by_servers(facts, [disk for disk in local if disk.name not in claims])


def _by_servers(facts: FileSystemFacts, disks: Sequence[FileSystemFacts]) -> list[FileSystemFacts]:
    servers = set(facts.servers)
    near = [disk for disk in disks if servers & set(disk.servers)]
    if not servers or not servers <= {server for disk in near for server in disk.servers}:
        return []
    candidates = [disk for disk in near if servers <= set(disk.servers)]
    if not candidates:
        is_apart = len({server for disk in near for server in disk.servers}) == sum(len(d.servers) for d in near)
        return near if is_apart else []
    fewest = min(len(disk.servers) for disk in candidates)
    best = [disk for disk in candidates if len(disk.servers) == fewest]
    return best if len(best) == 1 else []
