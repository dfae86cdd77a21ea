"""The folder in which a running Fathom keeps everything (`var/`, or FATHOM_VAR): lock, secret, addresses, logs."""

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.core.whole_files import write_whole
from launch import owners

_BEGUN = "begun\n"
ROOT = Path(__file__).resolve().parents[1]
# Signs of life come every few seconds.
_SHORTEST_HANG_S = 10


class HomeError(RuntimeError):
    """A folder that cannot be used; the text says what to do."""


class HeldError(HomeError):
    """A folder at which somebody is for a while, such as a backup; the text says who."""


class RunsError(HomeError):
    """A folder on which a service runs, starts or stops; the text says where."""


def default_folder() -> Path:
    """Return FATHOM_VAR, or `var` in the project."""
    return Path(os.environ.get("FATHOM_VAR") or ROOT / "var").absolute()


def hang_after_s() -> float:
    """Return HANG_AFTER: after so many seconds without a sign of life a part is killed; HomeError if it is no number.

    A busy machine may leave a part without an answer for some seconds.
    """
    text = os.environ.get("HANG_AFTER") or "30"
    if not text.isdecimal() or int(text) < _SHORTEST_HANG_S:
        raise HomeError(f"HANG_AFTER={text} is no time: give a number of seconds, {_SHORTEST_HANG_S} or more.")
    return float(text)


def environment_of_running() -> dict[str, str]:
    """Return the settings by which a command reaches what runs on the default folder; {} if nothing does.

    A deployment that has its own SECRET_KEY says where everything is by itself.
    """
    home = Home(default_folder())
    state = home.read_state()
    if os.environ.get("SECRET_KEY") or not state:
        return {}
    addresses = {"DATABASE_URL": state["database_url"], "REDIS_URL": state["redis_url"]}
    return {"SECRET_KEY": home.secret_key()} | addresses


def why_unknown() -> str:
    """Return in words why a command knows of nothing that runs, to be added to others; "" if it does."""
    home = Home(default_folder())
    if os.environ.get("SECRET_KEY") or home.read_state():
        return ""
    return (
        f" No service is known to run on {home.folder}: start one (make serve), or say with FATHOM_VAR where it is."
        f" One that runs there writes {home.state_file} again within a minute."
    )


def not_ours(error: PermissionError) -> str:
    """Return in words what another user's file keeps from being done, and the remedy."""
    whose = "another user's"
    with contextlib.suppress(OSError):
        state = os.lstat(error.filename)
        whose = f"{owners.name_of(state.st_uid)}'s" if state.st_uid != os.geteuid() else whose
    return (
        f"{error.filename} cannot be used ({error.strerror}): it is {whose}. Start as that user, or give it to the"
        " one who starts the service (chown)."
    )


def _flock(descriptor: int) -> bool:
    """Lock an open file or folder for this process; False if another has it, OSError where it cannot be locked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Home:
    """One var folder. Whoever holds its lock may start a service on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.run = self.folder / "run"
        self.logs = self.folder / "log"
        self.agents = self.folder / "agents"
        self.state_file = self.run / "state.json"
        self._locks: list[int] = []
        self._times_locked = 0

    def lock(self, holder: str = "") -> None:
        """Take the folder for this process; HomeError if another has it, or if it cannot be written.

        `holder` says what this process is, if no service; who asks meanwhile gets a HeldError with it. Taken more
        than once, it is to be given back as often.
        """
        if self._locks:
            self._times_locked += 1
            return
        try:
            for folder in (self.folder, self.run, self.logs, self.agents):
                with owners.acting(self.folder):
                    folder.mkdir(parents=True, exist_ok=True)
            # Jobs of local agents may run as another user, who has to pass through.
            with owners.acting(self.agents):
                self.agents.chmod(0o711)
            # A file can be cleared away beside a running service, the folder itself can not. On NFS only files lock.
            self._locks.append(os.open(self.folder, os.O_RDONLY))
            # No link: what it leads to would be emptied.
            how = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            self._locks.append(owners.open_in(self.run, "lock", how, 0o644))
        except OSError as error:
            self._let_go()
            raise HomeError(
                f"{error.filename} cannot be used ({error.strerror}): if another user made it, run as that user, "
                "or choose another folder with FATHOM_VAR."
            ) from error
        whole, file = self._locks
        with contextlib.suppress(OSError):
            if not _flock(whole):
                raise self._is_taken()
        if not _flock(file):
            raise self._is_taken()
        os.ftruncate(file, 0)
        os.write(file, holder.encode())
        self._times_locked = 1
        # Of a service that was killed: nothing runs here any more.
        self._forget_state()

    def unlock(self) -> None:
        """Give the folder back."""
        self._forget_state()
        self._times_locked -= 1
        if self._times_locked <= 0:
            self._let_go()

    def _forget_state(self) -> None:
        with owners.acting(self.run):
            self.state_file.unlink(missing_ok=True)

    def _is_taken(self) -> HomeError:
        self._let_go()
        with contextlib.suppress(OSError):
            with owners.acting(self.run):
                holder = (self.run / "lock").read_text()
            if holder:
                return HeldError(f"{self.folder} is in use by {holder}.")
        running = self.read_state() or {}
        where = f" at {running['address']} (process {running['pid']})" if "address" in running else ""
        return RunsError(
            f"Fathom already runs on {self.folder}{where}: use that one, stop it with Ctrl-C in its terminal, "
            "or choose another folder with FATHOM_VAR."
        )

    def _let_go(self) -> None:
        for descriptor in self._locks:
            os.close(descriptor)
        self._locks = []

    @property
    def restored(self) -> Path:
        """Return the folder of what a restore still has to put in its place, once the database is in its own."""
        return self.folder / "restored"

    def secret_key(self) -> str:
        """Return the secret that signs sessions, made at the first call and kept; a lost one is made anew."""
        key = self._kept_secret()
        if not key:
            key = secrets.token_urlsafe(48)
            self._write(self._secret, key + "\n")
        return key

    def has_lost_secret(self) -> bool:
        """Say whether there is a file for the secret, and nothing in it: a power cut may leave it empty or blank."""
        return self._secret.exists() and not self._kept_secret()

    def _kept_secret(self) -> str:
        try:
            return self._read(self._secret).strip(b"\0").decode("ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    @property
    def _secret(self) -> Path:
        return self.folder / "secret_key"

    def has_account(self) -> bool:
        """Say whether a first account was made here, and its password told."""
        return self._account.exists() and not self.was_account_begun()

    def was_account_begun(self) -> bool:
        """Say whether a first account was to be made, and nothing of it is known to have been told."""
        return self._account.exists() and self._read(self._account) == _BEGUN.encode()

    def begin_account(self) -> None:
        """Remember that a first account is about to be made."""
        self._write(self._account, _BEGUN)

    def note_account(self) -> None:
        """Remember that a first account was made, and its password told."""
        self._write(self._account, "")

    @property
    def _account(self) -> Path:
        return self.folder / "first_account"

    def _write(self, path: Path, text: str) -> None:
        with owners.acting(self.folder):
            write_whole(path, text)

    def _read(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except PermissionError as error:
            raise HomeError(not_ours(error)) from error

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Say, for other commands, what runs here; what has been cleared away is made anew."""
        with owners.acting(self.folder):
            self.run.mkdir(exist_ok=True)
        with owners.acting(self.run):
            with contextlib.suppress(OSError):
                if self.read_state() == state:
                    return
            write_whole(self.state_file, json.dumps(state, indent=2) + "\n")

    def read_state(self) -> dict[str, Any] | None:
        """Return what runs here: pid, address, database_url, redis_url, parts {name: pid}; None if nothing does."""
        try:
            state = json.loads(self.state_file.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return state if isinstance(state, dict) else None
