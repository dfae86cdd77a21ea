"""Outputs that no campaign's tool makes, but that belong to measurements: of schedulers, launchers and of ss."""

import dataclasses
import pathlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.bench import schedulers, telemetry
from apps.bench.outputs.failures import failure
from apps.bench.outputs.launchers import launch_problem
from apps.bench.outputs.texts import read_text
from apps.bench.toolkit import Output, ToolFailure

Json = dict[str, Any]

# A line of a socket, and below it what -i and -m add.
_SOCKETS = re.compile(
    r"^[A-Z-]{4,10} ++\d++ ++\d++ ++\S[^\s:]*+:\S++ ++\S[^\s:]*+:\S++.*+\n\s++.*\b(?:skmem:\(|rto:|cwnd:|wscale:)",
    re.M,
)


@dataclass(frozen=True)
class Form:
    """A form of output beside those of the tools: how it is known, and how it is read (ToolFailure if it can not)."""

    name: str
    recognises: Callable[[Output], bool]
    read: Callable[[Output], Json]


def form_of(output: Output) -> Form | None:
    """Return the form that an output has, or None."""
    return next((form for form in FORMS if form.recognises(output)), None)


def _is_socket_listing(output: Output) -> bool:
    return "ss" in {pathlib.PurePath(word).name for word in output.argv} or bool(_SOCKETS.search(read_text(output)))


def _read_sockets(output: Output) -> Json:
    sockets = telemetry.read_sockets(read_text(output))
    if not sockets:
        raise failure("unreadable", output)
    return {"sockets": [dataclasses.asdict(socket) for socket in sockets]}


def _problem_of(output: Output) -> ToolFailure | None:
    """Return what an MPI launcher complained of before anything ran."""
    return launch_problem(output, read_text(output))


def _read_launcher(output: Output) -> Json:
    raise _problem_of(output) or failure("unreadable", output)


FORMS: tuple[Form, ...] = (
    Form(
        "scheduler",
        lambda output: schedulers.recognises(read_text(output), output.argv),
        lambda output: schedulers.read(read_text(output), output.argv),
    ),
    Form("sockets", _is_socket_listing, _read_sockets),
    Form("mpi-launcher", lambda output: _problem_of(output) is not None, _read_launcher),
)
