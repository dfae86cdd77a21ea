"""Where files are written: the mount is seen before anything is written, and nothing is left behind."""

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import Command, Flag, NodeRef, Output, Parameter, ParameterError, Params, Stage

CHECK, CLEAN = "check", "clean"
CHECK_PROGRAM, CLEAN_PROGRAM = "df", "rm"
# A mount whose server is gone holds up whoever looks at it.
CHECK_LIMIT_S = 30.0
# So much of a path is looked for in what the check prints.
MOUNT_BYTES = 400
CLEAN_LIMIT_S = 300.0
PREFIX = ".fathom-"
# So many of the files that were left are named.
MOST_PATHS = 10

FOLDER = Parameter(
    "folder",
    "text",
    _("Folder"),
    help=_("Folder below the mount path to write in; it must be there already. Empty for the mount path itself."),
    default="",
    advanced=True,
    aside=True,
)
PAGE_POOL = Parameter(
    "page_pool",
    "size",
    _("Page pool"),
    help=_("The file system's own cache on each client, such as GPFS's page pool; 0 if it has none."),
    default=0,
    zero=_("none"),
    unit="B",
    minimum=0,
    advanced=True,
    aside=True,
)
TIME_LIMIT = Parameter(
    "time_limit",
    "duration",
    _("Time limit"),
    help=_("Each stage is ended after this time: on a full disk some programs never end by themselves."),
    default=1800.0,
    unit="s",
    minimum=10,
    maximum=86_400,
    advanced=True,
    aside=True,
)

_IN_MEMORY = {"tmpfs", "ramfs", "rootfs"}
_ROW = re.compile(
    r"^(?P<source>\S.*?)[ ]+(?P<kind>\S+)[ ]+(?P<size>\d{1,24}|-)[ ]+(?P<free>\d{1,24}|-)[ ]+(?P<target>/.*)$", re.M
)


@dataclasses.dataclass(frozen=True)
class FileSystemPlace:
    """What lies below a folder on a node: the file system's kind, source, size and free space (B), and its mount."""

    kind: str
    source: str
    size: int | None
    free: int | None
    target: str


def check_folder(params: Params) -> dict[str, Message]:
    """Refuse a folder that leads out of the mount path, or looks like an option."""
    parts = str(params["folder"]).split("/") if params["folder"] else []
    if any(part in ("", ".", "..") or part.startswith("-") for part in parts):
        return {"folder": Message(_("Give a folder below the mount path, such as scratch/bench."))}
    return {}


def folder_of(node: NodeRef, params: Params) -> str:
    """Return the path to write in on a node; ParameterError if the node mounts no file system of the experiment."""
    if not node.directory.startswith("/"):
        text = _("This tool writes files: choose a file system that %(node)s mounts.")
        raise ParameterError({"file_system": Message(text, {"node": node.name})})
    mount = node.directory.rstrip("/")
    return f"{mount}/{params['folder']}".rstrip("/") or "/"


def path_of(node: NodeRef, params: Params, name: str) -> str:
    """Return the path of a file of ours in the folder to write in."""
    return f"{folder_of(node, params).rstrip('/')}/{name_of(node, name)}"


def name_of(node: NodeRef, name: str) -> str:
    """Return the name of a file of ours, which no other run gives to its own."""
    return f"{PREFIX}{node.mark}-{name}" if node.mark else f"{PREFIX}{name}"


def check_stage(nodes: Sequence[NodeRef], params: Params, role: str = "client") -> Stage:
    """Return the stage that lets the next one begin only if the mount path of every node is really a mount.

    A folder that is no mount belongs to another file system, often the root disk: nothing may be written to it.
    """
    return Stage(CHECK, tuple(_check(index, node, params, role) for index, node in enumerate(nodes)))


def clean_stage(paths: Sequence[Iterable[str]], role: str = "client") -> Stage:
    """Return the stage that removes the paths of each node, whatever became of the stages after the check."""
    commands = tuple(
        Command(
            role=role,
            node_index=index,
            argv=(CLEAN_PROGRAM, "-rf", "--", *own),
            time_limit_s=CLEAN_LIMIT_S,
            measures=False,
            optional=True,
        )
        for index, own in enumerate(paths)
    )
    return Stage(CLEAN, commands, cleans_up_after=CHECK)


def read_places(outputs: Sequence[Output], params: Params) -> list[FileSystemPlace]:
    """Return where each client wrote; ToolFailure if a mount path is no mount. An archive has no such outputs."""
    return [_read_place(output, params) for output in outputs if output.stage == CHECK]


def own_outputs(outputs: Sequence[Output]) -> list[Output]:
    """Return the outputs of the measuring stages."""
    return [output for output in outputs if output.stage not in (CHECK, CLEAN)]


def observed_of(places: Sequence[FileSystemPlace]) -> dict[str, Any]:
    """Return what was seen of the file system, for a reading."""
    if not places:
        return {}
    observed = {
        "file_system": ", ".join(sorted({place.kind for place in places})),
        "file_system_source": ", ".join(sorted({place.source for place in places})),
        "file_system_free": min((place.free for place in places if place.free is not None), default=None),
    }
    return {name: value for name, value in observed.items() if value not in (None, "")}


def flags_of(places: Sequence[FileSystemPlace], outputs: Sequence[Output] = ()) -> tuple[Flag, ...]:
    """Return what there is to say of where the files lay, and of files that could not be removed."""
    flags = []
    kinds = sorted({place.kind for place in places})
    if not places:
        text = _("Whether the file system was mounted is not known: the output does not tell.")
        flags.append(Flag("mount-unseen", "info", Message(text)))
    if len(kinds) > 1:
        text = _("The clients wrote to file systems of different kinds: %(kinds)s.")
        flags.append(Flag("mixed-file-systems", "invalid", Message(text, {"kinds": ", ".join(kinds)})))
    if _IN_MEMORY & set(kinds):
        text = _("The file system (%(kind)s) lies in memory: no disk was measured.")
        flags.append(Flag("memory-file-system", "warning", Message(text, {"kind": ", ".join(kinds)})))
    cleaning = [output for output in outputs if output.stage == CLEAN and output.stderr]
    if cleaning:
        text = _("Files were left behind on %(nodes)s: %(paths)s.")
        paths = sorted({path for output in cleaning for path in output.argv[3:]})
        values = {"nodes": ", ".join(output.node for output in cleaning), "paths": ", ".join(paths[:MOST_PATHS])}
        flags.append(Flag("files-left", "warning", Message(text, values)))
    return tuple(flags)


def without_room(places: Sequence[FileSystemPlace], needed: int) -> FileSystemPlace | None:
    """Return a place that had less room than the `needed` bytes before the measurement, or None."""
    return next((place for place in places if place.free is not None and place.free < needed), None)


def _check(index: int, node: NodeRef, params: Params, role: str) -> Command:
    folder = folder_of(node, params)
    mount = node.directory.rstrip("/") or "/"
    # Of a long path in other letters its end will do: an agent matches patterns of 500 bytes only.
    end = re.escape(f" {mount}".encode()[-MOUNT_BYTES:].decode("utf-8", "ignore"))
    return Command(
        role=role,
        node_index=index,
        argv=(CHECK_PROGRAM, "-B1", "--output=source,fstype,size,avail,target", "--", folder),
        time_limit_s=CHECK_LIMIT_S,
        background=True,
        ready_pattern=rf"^\S.*{end}\n",
        measures=False,
        ends_by_itself=True,
    )


def _read_place(output: Output, params: Params) -> FileSystemPlace:
    folder = output.argv[-1] if output.argv else ""
    mount = folder.removesuffix(f"/{params['folder']}") or "/"
    if output.timed_out:
        raise failure("mount-hangs", output, path=mount)
    texts.refuse_cut_short(output)
    match = _ROW.search(output.stdout.decode("utf-8", "replace"))
    if not match:
        text = texts.read_text(output)
        if "No such file or directory" in text:
            raise failure("no-directory", output, path=folder)
        raise texts.system_error(output, text, "") or texts.no_result(output, text)
    if match["target"] != mount:
        raise failure("not-mounted", output, path=mount, target=match["target"], kind=match["kind"])
    return FileSystemPlace(
        kind=_printable(match["kind"]),
        source=_printable(match["source"]),
        size=_number(match["size"]),
        free=_number(match["free"]),
        target=match["target"],
    )


def _number(text: str) -> int | None:
    return int(text) if text != "-" else None


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)[:200]
