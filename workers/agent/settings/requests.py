"""What the server may ask for: one file of settings, each of which the node's own list allows."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..refusals import CannotStart
from ..telemetry.interfaces import interface_of
from ..troubles import fault_of
from . import bounds, kernel
from .kernel import SettingError
from .restoration import Restoration

# Its name in commands; it is this very program, and needs no place on the allow-list.
PROGRAM = "fathom-settings"
COMMAND = "hold-settings"


def prepare(job: Mapping[str, Any], allowed: Sequence[str], restoration: Restoration) -> list[str]:
    """Open the journal of a job that asks for settings, and return the command line that sets them.

    CannotStart if one of them is not allowed here, or is none, or if those of an earlier job remain.
    """
    wanted = _wanted(job)
    for key, value in wanted.items():
        if not any(fnmatchcase(key, pattern) for pattern in allowed):
            raise CannotStart("setting-not-allowed", key)
        if not (kernel.is_known(key) and kernel.is_value(value) and bounds.allow(key, value)):
            raise CannotStart("not-started", f"{key} = {value!r} is no setting that can be set")
    if left := restoration.trouble():
        raise CannotStart("node-trouble", ": ".join(left))
    journals = restoration.journals
    interface = interface_of(str(job.get("address") or "")) if {kernel.MTU, kernel.QDISC} & set(wanted) else ""
    try:
        journals.open(str(job["id"]), wanted, interface)
    except SettingError as error:
        raise CannotStart("not-started", str(error)) from None
    except OSError as error:
        words = f"the journal of settings cannot be written: {error.strerror}"
        raise CannotStart(fault_of(error), words) from None
    program = str(Path(sys.argv[0]).absolute())
    command = [sys.executable, program, COMMAND, "--dir", str(journals.folder.parent)]
    return [*command, "--job", str(job["id"]), "--parent", str(os.getpid())]


def _wanted(job: Mapping[str, Any]) -> dict[str, str]:
    """Return {key: value} as the file that the command names says them."""
    files = {str(name): str(text) for name, text in job.get("files") or ()}
    argv = [str(word) for word in job["argv"]]
    try:
        (name,) = argv[1:]
        wanted = json.loads(files[name])["settings"]
        return {str(key): " ".join(str(value).split()) for key, value in wanted.items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise CannotStart("not-started", "fathom-settings needs the name of one file of settings") from None
