"""Where a lab keeps its state, what its things are called, and the lock that lets one command at a time change it."""

import contextlib
import fcntl
import hashlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

State = dict[str, Any]
# The program by which a job of one node starts commands on another.
REMOTE = "lab-remote"


@dataclass(frozen=True)
class Place:
    """A state folder. One lab lives in it at a time; all its names hold a token made from the folder's path."""

    folder: Path

    @property
    def token(self) -> str:
        """Return six hexadecimal digits that tell this folder's labs from those of any other."""
        return hashlib.sha256(str(self.folder.resolve()).encode()).hexdigest()[:6]

    @property
    def namespace_prefix(self) -> str:
        """Return what the names of all its network namespaces begin with."""
        return f"fathom-{self.token}-"

    @property
    def interface_prefix(self) -> str:
        """Return what the names of all its interfaces in the machine's own namespace begin with.

        Of the 15 bytes an interface's name may have, it leaves 7.
        """
        return f"fm{self.token}"

    @property
    def rooms(self) -> Path:
        """Return the folder whose files hold the nodes' mounts and host names."""
        return Path("/run") / f"fathom-{self.token}"

    @property
    def group(self) -> str:
        """Return the name of the cgroup in which its nodes' programs live, where the machine has one such tree."""
        return f"fathom-{self.token}"

    @property
    def inventory_file(self) -> Path:
        """Return the file that describes the lab that is up to the service."""
        return self.folder / "inventory.yaml"

    @property
    def doors(self) -> Path:
        """Return the folder that all nodes see, with a socket to each of them and the program that speaks to these.

        It is a temporary one, for any user has to reach it.
        """
        return Path(tempfile.gettempdir()).resolve() / f"fathom-lab-{self.token}"

    @property
    def state_file(self) -> Path:
        """Return the file that stands there exactly while a lab is up."""
        return self.folder / "state.json"

    def namespace_of(self, name: str) -> str:
        """Return the network namespace of a node or switch."""
        return self.namespace_prefix + name

    def read_state(self) -> State | None:
        """Return the state of the lab that is up here, or None."""
        try:
            state = json.loads(self.state_file.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return state if isinstance(state, dict) else None

    def write_state(self, state: State) -> None:
        """Write the state at once, so that no reader sees half of it."""
        draft = self.state_file.with_suffix(".draft")
        draft.write_text(json.dumps(state, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        draft.replace(self.state_file)

    def forget_state(self) -> None:
        """Remove the state file, and the inventory that was made from it."""
        self.state_file.unlink(missing_ok=True)
        self.inventory_file.unlink(missing_ok=True)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Wait for other lab commands on this folder, and keep them waiting; the lock ends with its process."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
