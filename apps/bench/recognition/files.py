"""Cut a file into the outputs it holds."""

import bisect
import dataclasses
import itertools
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from apps.bench import tools
from apps.bench.outputs.documents import EVENT, PrintedJson
from apps.bench.toolkit import Output, Tool, ToolFailure

# What stands for the name of the node that a file does not tell.
NODE = "this node"
# A recorded command, or the line with which a shell that traces itself shows one.
_COMMAND = re.compile(rb"^(?:\$|\++) ([^\r\n]+)\r?\n?", re.MULTILINE)
_EXIT = re.compile(rb"^\[exit (-?\d{1,5})\][ \t]*\r?$\n?", re.MULTILINE)
_STDERR = re.compile(rb"^--- stderr:[ \t]*\r?$\n?", re.MULTILINE)
# Exit statuses by which a shell tells that a program was interrupted, killed, at fault or ended; mpirun has others of
# 128 and more with meanings of its own. timeout(1) ends with 124.
_BY_SIGNAL = {130: 2, 137: 9, 139: 11, 143: 15}
_TIMED_OUT = 124


# Lines with which the results within one output begin: those of qperf's loops, a server's tests of iperf 2, and
# tables of the Intel MPI Benchmarks, of which those of MPI-IO tell of the same writes twice.
_RESULTS = (
    re.compile(rb"^#-{9,120}\r?\n# Benchmarking .*$(?!(?:\r?\n#[^\n]*){1,6}?\r?\n#  +MODE: NON-AGG)", re.MULTILINE),
    re.compile(rb"^[a-z]+_(?:[a-z]+_)*(?:bw|lat):[ \t]*\r?$", re.MULTILINE),
    re.compile(rb"^\[ *\d{1,4}\] local \S+ port \d+ connected with .*$", re.MULTILINE),
)


def split_results(output: Output, tool: Tool) -> list[Output]:
    """Return an output of several results of a tool as one for each; the output alone if it can not be cut."""
    text = output.stdout
    if len(documents := _json_documents(text)) > 1:
        return [dataclasses.replace(output, stdout=document) for document in documents]
    if len(runs := _runs(text, [tool])) > 1:
        return [dataclasses.replace(output, stdout=run) for run in runs]
    for pattern in _RESULTS:
        lines = [(match.start(), match.end()) for match in pattern.finditer(text)]
        # Streams of one test begin in lines that follow each other.
        follows = {text.find(b"\n", end) + 1 for _start, end in lines} - {0}
        starts = [start for start, _end in lines if start not in follows]
        if len(starts) > 1:
            # What stands before the first, such as whose log this is, is said of all.
            head, pairs = text[: starts[0]], zip(starts, [*starts[1:], len(text)], strict=True)
            return [dataclasses.replace(output, stdout=head + text[start:end]) for start, end in pairs]
    return [output]


def split_file(raw: bytes) -> list[Output]:
    """Return the outputs of a file in their order, none if it holds nothing but blanks.

    A recording gives the argv and the exit status, a plain file neither: its outputs have an empty argv.
    """
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    recorded = raw.lstrip()
    if not _COMMAND.match(recorded):
        return [_output((), part, b"", None) for part in _plain_parts(raw)]
    return [output for start, end in _sections(recorded) for output in _recorded(recorded[start:end])]


def _sections(raw: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each recorded command and what belongs to it begins and ends.

    Where exit statuses were recorded, a line like a command within an output, before its status, is the output's.
    """
    starts = [match.start() for match in _COMMAND.finditer(raw)]
    exits = [match.start() for match in _EXIT.finditer(raw)]
    if exits:
        sections = starts[:1]
        for start in starts[1:]:
            following = bisect.bisect_right(exits, sections[-1])
            if following < len(exits) and exits[following] < start:
                sections.append(start)
        starts = sections
    yield from zip(starts, [*starts[1:], len(raw)], strict=True)


def _recorded(section: bytes) -> Iterator[Output]:
    command = _COMMAND.match(section)
    if command is None:
        return
    body, stderr, code = section[command.end() :], b"", None
    exits = list(_EXIT.finditer(body))
    if exits:
        after = body[exits[-1].end() :]
        code = int(exits[-1][1])
        body = body[: exits[-1].start()]
        errors = _STDERR.match(after)
        stderr = after[errors.end() :] if errors else after.strip()
    argv = _words(command[1].decode("utf-8", "replace"))
    # A script's output may hold those of several programs, none of which the script's own name tells.
    parts = list(_plain_parts(body)) if _is_script(argv) else [body]
    for part in parts or [body]:
        yield _output(() if len(parts) > 1 else argv, part, stderr, code)


def _is_script(argv: tuple[str, ...]) -> bool:
    return any(word.endswith((".sh", ".py", ".pl")) for word in argv)


def _output(argv: tuple[str, ...], stdout: bytes, stderr: bytes, code: int | None) -> Output:
    is_limit = code == _TIMED_OUT and any(word.rpartition("/")[2] == "timeout" for word in argv)
    signal = _BY_SIGNAL.get(code) if code is not None else None
    return Output("", "measure", NODE, argv, stdout, stderr, code, signal=signal, timed_out=is_limit)


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return tuple(command.split())


def _plain_parts(raw: bytes) -> Iterator[bytes]:
    """Yield the outputs of a text without commands: JSON documents, or parts that begin as outputs do."""
    if not raw.strip():
        return
    documents = _json_documents(raw)
    if len(documents) > 1:
        yield from documents
        return
    yield from _runs(raw, tools.all_tools())


def _runs(raw: bytes, known: Iterable[Tool]) -> list[bytes]:
    """Return the parts of a text that begin as the runs of tools do; what stands before the first belongs to it."""
    text = raw.decode("utf-8", "surrogateescape")
    openings = {tool.opening for tool in known if tool.opening}
    starts = sorted({match.start() for opening in openings for match in opening.finditer(text)})
    cuts = [0, *starts[1:], len(text)]
    return [text[start:end].encode("utf-8", "surrogateescape") for start, end in itertools.pairwise(cuts)]


def _json_documents(raw: bytes) -> list[bytes]:
    """Return the JSON objects that a text consists of, [] if it holds anything else."""
    text = raw.decode("utf-8", "surrogateescape")
    printed, position = PrintedJson(text), 0
    documents: list[str] = []
    latest: Any = None
    while position < len(text):
        while position < len(text) and text[position].isspace():
            position += 1
        if position == len(text):
            break
        if text[position] != "{":
            return []
        try:
            value, end = printed.read(position)
        except (ValueError, ToolFailure):
            return []
        is_event = value.keys() == EVENT and value["event"] != "start"
        if documents and (is_event or any(tool.is_later(latest, value) for tool in tools.all_tools())):
            # One report, line by line; or what was reported before the run was over.
            documents[-1] += "\n" + text[position:end]
        else:
            documents.append(text[position:end])
        latest, position = value, end
    return [part.encode("utf-8", "surrogateescape") for part in documents]
