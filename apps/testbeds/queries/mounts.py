"""Where nodes mount file systems, and which nodes serve them."""

from collections.abc import Iterable

from apps.testbeds.models import FileSystem, Mount, Node


def directories(file_system: FileSystem | int, nodes: Iterable[int]) -> dict[int, str]:
    """Return {node id: mount path} of those of the nodes that mount a file system, all through their clusters.

    A node of several clusters that mount it at different places is given the first by the clusters' names.
    """
    rows = (
        Mount.objects.filter(file_system=file_system, cluster__nodes__in=list(nodes))
        .order_by("-cluster__name")
        .values_list("cluster__nodes", "path", "file_system__mount_path")
    )
    return {node: path or usual for node, path, usual in rows}


def mounting(file_system: FileSystem) -> set[int]:
    """Return the ids of the nodes that mount a file system."""
    return set(Node.objects.filter(clusters__mounts__file_system=file_system).values_list("pk", flat=True))


def servers(file_system: FileSystem) -> list[Node]:
    """Return the nodes that serve a file system, none where its cluster is not described or each has its own."""
    return list(Node.objects.filter(clusters__file_systems_served=file_system).order_by("name").distinct())
