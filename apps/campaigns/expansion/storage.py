"""Whether an experiment's file system is one that its tool and its nodes can write to."""

from collections.abc import Iterable

from apps.bench.text import Message, _
from apps.bench.toolkit import Tool
from apps.campaigns.expansion.casts import Cast, Errors
from apps.testbeds import queries
from apps.testbeds.models import FileSystem

# So many nodes are named in a refusal.
_NAMED = 5


def check(tool: Tool, file_system: FileSystem | None, casts: Iterable[Cast], wrong: Errors) -> None:
    """Fill in `wrong` if the tool needs a file system, takes none, or its nodes do not mount the one chosen.

    Where it is required every node must mount it; where it is optional (a controller or a sink need none), some must.
    """
    if file_system is None:
        if tool.file_system == "required":
            text = _("%(tool)s writes to a file system: choose one that its nodes mount.")
            wrong["file_system"] = Message(text, {"tool": tool.name})
        return
    if not tool.file_system:
        text = _("%(tool)s writes to no file system: leave this empty.")
        wrong["file_system"] = Message(text, {"tool": tool.name})
        return
    nodes = {node.pk: node for cast in casts for node in cast.nodes}
    mounted = queries.directories(file_system, nodes)
    missing = [node.name for pk, node in nodes.items() if pk not in mounted]
    if missing and (tool.file_system == "required" or len(missing) == len(nodes)):
        text = _(
            "%(file_system)s is not mounted by %(nodes)s: choose nodes of a cluster that mounts it, or describe the "
            "mount on the file system's page."
        )
        names = ", ".join(missing[:_NAMED]) + (" …" if len(missing) > _NAMED else "")
        wrong["file_system"] = Message(text, {"file_system": file_system.name, "nodes": names})
