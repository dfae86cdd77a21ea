"""Where nodes mount file systems."""

from collections.abc import Iterable

from apps.testbeds.models import FileSystem, Mount


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
