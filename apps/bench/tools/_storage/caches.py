"""Taking files out of a client's page cache before they are read, which needs no privilege, and looking if they are.

A `dd` that copies nothing with `nocache` advises the kernel to drop the whole file (GNU coreutils' manual, "dd
invocation"); `fincore` of util-linux counts the pages that stayed.
"""

import re
from collections.abc import Sequence

from apps.bench.outputs import texts
from apps.bench.toolkit import Command, Output, Stage

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


def is_ours(output: Output) -> bool:
    """Return whether an output is of one of these stages."""
    return output.stage.startswith((DROP, LOOK))


def is_empty(outputs: Sequence[Output], name: str) -> bool:
    """Return whether all nodes' files were seen to be out of the page cache before the test of that name."""
    looks = [output for output in outputs if output.stage == LOOK + name]
    return bool(looks) and all(_is_empty(output) for output in looks)


def _is_empty(output: Output) -> bool:
    rows = _ROW.findall(texts.read_text(output))
    resident, size = (sum(int(row[column]) for row in rows) for column in (0, 1))
    return bool(rows) and resident <= FEW * size
