"""Taking files out of the page cache of clients and their server before they are read, and looking if they are.

No privilege is needed.

A `dd` that copies nothing with `nocache` advises the kernel to drop the whole file (GNU coreutils' manual, "dd
invocation"); `fincore` of util-linux counts the pages that stayed.
"""

import re
from collections.abc import Sequence

from apps.bench.outputs import texts
from apps.bench.toolkit import FILE_SERVER, Command, NodeRef, Output, Stage

DROP, LOOK = "drop-", "look-"
PROGRAMS = ("dd", "fincore")
LIMIT_S = 120.0
# A share of the files' bytes that may stay without mattering.
FEW = 0.01

_ROW = re.compile(r"^ *(\d{1,18}) +(\d{1,18}) +/", re.M | re.A)


def stages(name: str, files: Sequence[Sequence[str]], role: str = "client") -> tuple[Stage, Stage]:
    """Return the stages before a test of that name, for the files of each node; a node may lack the programs."""

    def command(index: int, argv: Sequence[str]) -> Command:
        return Command(
            role=role, node_index=index, argv=tuple(argv), time_limit_s=LIMIT_S, measures=False, optional=True
        )

    drops = [
        command(index, ("dd", f"if={path}", "iflag=nocache", "count=0", "status=none"))
        for index, own in enumerate(files)
        for path in own
    ]
    looks = [
        command(index, ("fincore", "--bytes", "--noheadings", "--output", "RES,SIZE,FILE", "--", *own))
        for index, own in enumerate(files)
    ]
    return Stage(DROP + name, tuple(drops)), Stage(LOOK + name, tuple(looks))


def server_stages(
    name: str, files: Sequence[Sequence[str]], players: Sequence[NodeRef], servers: Sequence[NodeRef]
) -> tuple[Stage, ...]:
    """Return the stages by which the one server of a file system frees its cache of the files of the clients.

    `directory` of a server is the folder that the clients have mounted; () where none is known.
    """
    if len(servers) != 1 or not servers[0].directory:
        return ()
    there = servers[0].directory.rstrip("/")
    paths = [
        there + path.removeprefix(node.directory.rstrip("/"))
        for node, own in zip(players, files, strict=True)
        for path in own
    ]
    return stages(f"{name}-{FILE_SERVER}", [paths], FILE_SERVER)


def freed_before(outputs: Sequence[Output], name: str) -> bool:
    """Return whether the server was seen to have freed its cache of all files before the test of that name."""
    return is_empty(outputs, f"{name}-{FILE_SERVER}")


def is_ours(output: Output) -> bool:
    """Return whether an output is of one of these stages."""
    return output.stage.startswith((DROP, LOOK))


def is_empty(outputs: Sequence[Output], name: str) -> bool:
    """Return whether all nodes' files were seen to be out of the page cache before the test of that name."""
    looks = [output for output in outputs if output.stage == LOOK + name]
    return bool(looks) and all(_is_empty(output) for output in looks)


def _is_empty(output: Output) -> bool:
    rows = _ROW.findall(texts.read_text(output))
    if "--" in output.argv and len(rows) < len(output.argv) - output.argv.index("--") - 1:
        return False
    resident, size = (sum(int(row[column]) for row in rows) for column in (0, 1))
    return bool(rows) and resident <= FEW * size
