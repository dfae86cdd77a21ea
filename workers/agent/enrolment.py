"""Whether a folder may become a node's: it may hold another node's identity, and that one's agent may be at work."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import VERSION, config, proposal
from .config import Config, ConfigError
from .durable import sync_folder
from .lock import Lock, holder_of
from .remote import Away, CutOff, Refused, Remote
from .spool import SUFFIX

# It is done once, by a person who waits: a busy server is given time (s).
_TIMEOUT_S = 30.0
# How often an enrolment is asked for whose answer is cut off.
_TRIES = 3


def claim(folder: Path, *, server: str, node: str, replace: bool) -> Config | None:
    """Return the configuration that is to be written anew, None where the folder holds none.

    ConfigError if the folder is another node's or service's, or if another's agent runs in it. With `replace` that
    identity is to be overwritten: its agent must have stopped, and have reported all. A node's own agent may run on.
    """
    # One that cannot be read names nobody: what it holds is not to be lost unseen.
    present = config.load(folder) if (folder / config.FILE).exists() else None
    holder = _runner(folder)
    is_same = present is not None and bool(node) and (present.node, present.server) == (node, server)
    runs_other = holder is not None and holder.get("node", "") not in ("", node)
    if present is None and (holder is None or (node and holder.get("node") == node)):
        return None
    if is_same and not runs_other:
        return present
    if not replace:
        raise ConfigError(_refusal(folder, present, holder, node))
    if holder is not None:
        raise ConfigError(f"{_running(folder, holder, present)} Stop it before its identity is replaced.")
    waiting = len(list((folder / "spool").glob("*" + SUFFIX)))
    if waiting:
        owner = present.node if present else "its former node"
        raise ConfigError(
            f"{folder} holds {waiting} job(s) that {owner} has not reported yet: start that agent once more, or move "
            f"{folder / 'spool'} away. Nothing was changed; the token is still good."
        )
    return present


def ask(folder: Path, settings: Config, remote: Remote, enrolment_token: str) -> None:
    """Spend an enrolment token and put what it brings into the settings; ConfigError, Away or Refused.

    A server of before takes no token that is proposed, and gives one of its own.
    """
    token = proposal.keep(folder, server=settings.server, enrolment_token=enrolment_token)
    body = {"token": enrolment_token, "version": VERSION, "own": proposal.as_body(token)}
    try:
        answer = _answer_to(remote, body)
    except Refused:
        proposal.forget(folder)
        raise
    except Away as away:
        text = "Run the same command again: it is answered even if the server has enrolled this node already."
        raise Away(f"{str(away).rstrip('.')}. {text}") from None
    settings.token, settings.node = str(answer.get("token") or token), str(answer["node"])


def _answer_to(remote: Remote, body: dict[str, Any]) -> dict[str, Any]:
    for _number in range(_TRIES - 1):
        try:
            return remote.call("enrol", body, timeout_s=_TIMEOUT_S)
        except CutOff:
            continue
    return remote.call("enrol", body, timeout_s=_TIMEOUT_S)


@contextlib.contextmanager
def set_aside(folder: Path) -> Iterator[Path | None]:
    """Keep a copy of the identity that is to be overwritten; return where, None if there is none.

    It is removed if the identity stays after all, for whatever is raised meanwhile. ConfigError if it cannot be kept.
    """
    path = folder / config.FILE
    try:
        copy = _copy(folder, path) if path.exists() else None
    except OSError as error:
        raise ConfigError(f"No copy of {path} could be kept: {error.strerror}. The token is still good.") from None
    try:
        yield copy
    except BaseException:
        if copy is not None:
            with contextlib.suppress(OSError):
                copy.unlink()
        raise


def _copy(folder: Path, path: Path) -> Path:
    number, copy = 1, folder / f"{config.FILE}.1"
    while copy.exists():
        number += 1
        copy = folder / f"{config.FILE}.{number}"
    # As much a secret as the file itself.
    with os.fdopen(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        try:
            file.write(path.read_bytes())
            file.flush()
            os.fsync(file.fileno())
            sync_folder(folder)
        except OSError:
            copy.unlink()
            raise
    return copy


def running_line(folder: Path, settings: Config) -> tuple[bool, str]:
    """Return whether the process at work in the folder is this node's agent, and what `status` says of it."""
    holder = _runner(folder)
    if holder is None:
        return False, "no"
    process = f" (process {holder['pid']})" if holder.get("pid") else ""
    node = holder.get("node", "")
    if node and node != settings.node:
        return False, f"no: it is the agent of {node} that runs here{process}, not that of {settings.node}"
    return True, f"yes{process}"


def already_runs(folder: Path, settings: Config) -> str:
    """Return what is said to somebody who starts an agent where one runs."""
    return f"{_running(folder, holder_of(folder), settings)} {_beside(folder, settings.node)}"


def _runner(folder: Path) -> dict[str, str] | None:
    """Return who works in the folder, as `holder_of` does; None if nobody."""
    if not folder.is_dir():
        return None
    try:
        lock = Lock.take(folder)
    except OSError as error:
        raise ConfigError(f"The folder {folder} cannot be used: {error.strerror}. Choose one with --dir.") from None
    if lock is None:
        return holder_of(folder)
    lock.close()
    return None


def _running(folder: Path, holder: dict[str, str], present: Config | None) -> str:
    node = holder.get("node") or (present.node if present else "")
    whose = f"The agent of {node}" if node else "An agent"
    process = f" (process {holder['pid']})" if holder.get("pid") else ""
    return f"{whose} already runs in {folder}{process}."


def _refusal(folder: Path, present: Config | None, holder: dict[str, str] | None, node: str) -> str:
    whose = f"{folder} holds the identity of {present.node or 'a node'} at {present.server}. " if present else ""
    runs = f"{_running(folder, holder, present)} " if holder is not None else ""
    wanted = node or "another node"
    return (
        f"{whose}{runs}It was not overwritten, and the token is still good. {_beside(folder, node)} To make "
        f"{wanted}'s of it instead, stop the agent there and add --replace; the former identity is kept aside."
    )


def _beside(folder: Path, node: str) -> str:
    place = folder.with_name(f"{folder.name}-{node or 'NODE'}")
    return f"An agent of another node needs a folder of its own: add --dir {place} to enrol, run and status."
