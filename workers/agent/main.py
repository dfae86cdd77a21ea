"""The command line: enrol, run, status, unit."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import pkgutil
import resource
import shlex
import signal
import sys
import time
import uuid
from pathlib import Path

from . import VERSION, condition, config, enrolment, proposal, slurm
from . import settings as holding
from .agent import Agent
from .lock import Lock
from .printable import OneLine, escaped
from .remote import Away, Refused, remote_of
from .spool import SUFFIX

UNIT = "fathom-agent.service"
# An agent that runs has spoken with its server within this time (s); a poll is held for 20 s.
FRESH_S = 40.0


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit status; what is wrong is said in one line."""
    if arguments is None and Path(sys.argv[0]).name == slurm.NAME:
        # A link of that name to this program, which the owner of a log-in node puts on its list.
        return slurm.main()
    options = _parser().parse_args(arguments)
    if sys.platform != "linux":
        print("fathom-agent: agents run on Linux.", file=sys.stderr)
        return 1
    folder = (options.dir or config.default_folder()).absolute()
    try:
        return int(options.command(folder, options))
    except (config.ConfigError, Away, Refused, ValueError, OSError) as error:
        # The server's words may be among it.
        print(f"fathom-agent: {escaped(str(error))}", file=sys.stderr)
        return 1


def enrol(folder: Path, options: argparse.Namespace) -> int:
    """Turn a one-time token into this node's own, and keep it; another node's identity is not overwritten unasked."""
    present = enrolment.claim(folder, server=options.server, node=options.node, replace=options.replace)
    config.make_folder(folder)
    settings = present or config.Config(server=options.server, token="", ca_file=options.ca_file)
    if options.server != settings.server:
        # Another server has another certificate, and is to be trusted anew.
        settings.pin, settings.insecure = "", False
    settings.server, settings.ca_file = options.server, options.ca_file or settings.ca_file
    settings.pin, settings.insecure = options.pin or settings.pin, options.insecure or settings.insecure
    settings.paths = sorted({*settings.paths, *(str(path.absolute()) for path in options.path)})
    remote = remote_of(settings)
    keeping = enrolment.set_aside(folder) if options.replace else contextlib.nullcontext()
    # A token is good once: there is room for its fruit, and for the former one's copy, before it is spent.
    with config.room(folder, settings), keeping as aside:
        enrolment.ask(folder, settings, remote, options.token)
        config.save(folder, settings)
        proposal.forget(folder)
    if aside:
        print(f"The former identity is kept in {aside}.")
    print(f"Enrolled as the agent of {escaped(settings.node)}. Start it with:\n  {_command('run', folder)}")
    return 0


def run(folder: Path, _options: argparse.Namespace) -> int:
    """Work until SIGTERM or SIGINT."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine("%(asctime)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    # What is wrong with the server's address is said at once, not by a thread.
    settings = config.load(folder)
    remote_of(settings).close()
    lock = _lock(folder)
    if lock is None:
        raise config.ConfigError(enrolment.already_runs(folder, settings))
    lock.sign(settings.node)
    # Jobs leave no core dumps: they inherit this.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The system may hand a signal to any thread, which then writes here; a Python handler waits for this thread.
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_args: None)
    Agent(folder, lock).run(lambda: os.read(reader, 1))
    return 0


def status(folder: Path, _options: argparse.Namespace) -> int:
    """Say what this agent is and how it does; exit status 0 if it runs and the server has answered lately."""
    settings = config.load(folder)
    runs, running = enrolment.running_line(folder, settings)
    last = condition.read(folder)
    contact = last.get("contact", 0.0)
    age = time.time() - contact
    waiting = len(list((folder / "spool").glob("*" + SUFFIX))) if (folder / "spool").is_dir() else 0
    heard = f"{age:.0f} s ago" if contact else "never"
    if age < 0:
        heard = "not known: this machine's clock was set back since"
    programs = [f"{name} ({path})" for name, path in settings.allowed().items() if path]
    print(
        f"version   {VERSION}\nfolder    {folder}\nserver    {settings.server}\nnode      {settings.node}\n"
        f"running   {running}\nanswered  {heard}\nspool     {waiting} job(s)\n"
        f"programs  {', '.join(programs) or 'none found'}"
    )
    for line in condition.lines(last):
        print(escaped(line))
    return 0 if runs and contact and 0 <= age < FRESH_S else 3


def unit(folder: Path, _options: argparse.Namespace) -> int:
    """Print a systemd unit for this program and folder."""
    text = pkgutil.get_data(__package__, UNIT) or b""
    words = {"python": sys.executable, "program": str(_program()), "folder": str(folder)}
    paths = config.load(folder).paths if (folder / config.FILE).exists() else []
    written = {name: _systemd_word(word) for name, word in words.items()}
    # One that is not mounted yet must not keep the agent from its start.
    print(text.decode().format(**written, paths="".join(f" -{_systemd_word(path)}" for path in paths)), end="")
    return 0


def hold_settings(folder: Path, options: argparse.Namespace) -> int:
    """Hold kernel settings for a job of the agent that started this, until it is told to put them back."""
    return holding.hold(holding.Journals(folder / "settings"), str(uuid.UUID(options.job)), options.parent)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fathom-agent", description="Carries out measurements for a Fathom server.")
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (enrol, run, status, unit):
        entry = commands.add_parser(command.__name__, help=(command.__doc__ or "").splitlines()[0])
        entry.add_argument("--dir", type=Path, help=f"the agent's folder (default: {config.default_folder()})")
        entry.set_defaults(command=command)
        if command is enrol:
            entry.add_argument(
                "--server", required=True, help="the server's address, e.g. https://fathom.example.org"
            )
            entry.add_argument("--token", required=True, help="the one-time token of the node's agent page")
            entry.add_argument("--node", default="", help="the node that the token is of, as the page's command says")
            entry.add_argument(
                "--replace",
                action="store_true",
                help="overwrite another node's identity in the folder; a copy of it is kept there",
            )
            entry.add_argument("--ca-file", default="", help="certificates to trust instead of the system's")
            entry.add_argument("--pin", type=_pin, help="the SHA-256 of the server's own certificate")
            entry.add_argument(
                "--insecure",
                action="store_true",
                help="let http:// leave this machine, where the network is trusted",
            )
            entry.add_argument(
                "--path", type=Path, action="append", default=[], help="a folder that measurements may write in"
            )
    # Not for people: the agent starts it.
    entry = commands.add_parser(holding.COMMAND)
    entry.add_argument("--dir", type=Path)
    entry.add_argument("--job", required=True)
    entry.add_argument("--parent", type=int, required=True)
    entry.set_defaults(command=hold_settings)
    return parser


def _pin(text: str) -> str:
    """Return a pin as agent.json has it; colons, as openssl(1) prints them, are left out."""
    pin = text.replace(":", "").lower()
    if not config.PIN.fullmatch(pin):
        raise argparse.ArgumentTypeError("it must be a SHA-256: 64 hexadecimal digits")
    return pin


def _lock(folder: Path) -> Lock | None:
    """Return the held lock of the folder, or None if another agent holds it."""
    try:
        return Lock.take(folder)
    except OSError as error:
        raise config.ConfigError(f"The folder {folder} cannot be used: {error.strerror}.") from None


def _program() -> Path:
    return Path(sys.argv[0]).absolute()


def _command(name: str, folder: Path) -> str:
    words = [Path(sys.executable).name, str(_program()), name]
    if folder != config.default_folder():
        words += ["--dir", str(folder)]
    return shlex.join(words)


def _systemd_word(word: str) -> str:
    """Return a word quoted for systemd.syntax(7)."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"' if any(letter.isspace() for letter in escaped) or escaped != word else word
