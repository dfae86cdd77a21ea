"""Programs that exist to start others, or do so when they are told: by name, by path, and behind links.

A program that the agent has no rules of is trusted by the node's owner; what these would start is not. So none of
them is started by its own name, and none is a word of such a program's command.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from ..places import USUAL_FOLDERS
from .interpreters import INTERPRETERS, REMOTE
from .rules import COMMAND, CPUS, NUMBER, TEXT, Rules, options_of

_LANGUAGES = (
    "python* pypy* ipython* pwsh ash rbash yash xonsh octave* gnuplot sqlite3 psql mysql m4 ghc* runghc ocaml scala "
    "groovy erl elixir sbcl clisp racket deno bun dotnet mono wine* qemu-* bpftrace stap tex pdftex"
)
_RUNNERS = (
    "env time nice ionice timeout stdbuf unbuffer setsid nohup xargs find perf strace ltrace uftrace gdb gdbserver "
    "valgrind taskset numactl chrt schedtool prlimit chpst softlimit cpulimit cgexec choom setarch linux32 linux64 "
    "likwid-* trickle proxychains* torsocks eatmydata hyperfine multitime entr flock parallel watch script "
    "rlwrap run-parts start-stop-daemon daemonize systemd-run systemctl crontab ld.so ld-linux* ld-*.so* make gmake "
    "ninja cmake cargo xvfb-run xterm dbus-run-session tmux screen dtach mpirun mpiexec* orterun prterun srun "
    "sbatch salloc aprun jsrun fathom-slurm hwloc-bind mpirun_rsh qsub qrsh qlogin bsub flux prun ibrun charmrun "
    "torchrun uclampset coresched pipesz scriptlive nsys ncu nvprof vtune hpcrun tau_exec tini dumb-init faketime "
    "chronic ifne logsave"
)
_USERS = (
    "sudo su doas pkexec gosu su-exec runuser setpriv capsh sg newgrp runcon unshare nsenter chroot fakeroot bwrap "
    "firejail systemd-nspawn docker podman nerdctl lxc* apptainer singularity flatpak snap"
)
_OTHERS = (
    "toybox coreutils awk gawk mawk nawk sed gsed tar bsdtar cpio zip rsync curl wget aria2c nc ncat nc.* netcat "
    "socat telnet ftp lftp scp sftp ssh-agent dbclient rlogin rexec pdsh clush pssh ansible* git hg svn vi vim* nvim "
    "ex ed emacs* nano less tcpdump nmap dpkg apt apt-get aptitude rpm dnf yum pip pip3* pipx "
    "uv uvx npm npx yarn gem conda mamba"
)
# These names stand for so much else that as words they are let through.
_COMMON = "gcc* g++* clang* cc c++ go ip view more most man split sort rr at batch service"
STARTERS: tuple[str, ...] = (*INTERPRETERS, *" ".join([_LANGUAGES, _RUNNERS, _USERS, _OTHERS]).split())
COMMON: tuple[str, ...] = tuple(_COMMON.split())
# What they do is decided by the name under which they are called: behind a link it is the link's that counts.
_MULTIPLE = frozenset(("busybox", "toybox", "coreutils"))
_MOST_LINKS = 40
# The wrappers that an owner may let start programs, each by what it is told before the program.
WRAPPERS: dict[str, Rules] = {
    "taskset": Rules(options_of(flag="-c --cpu-list"), words=(CPUS, COMMAND), clusters=False),
    "numactl": Rules(
        {
            **options_of(flag="-l --localalloc"),
            **dict.fromkeys(
                (
                    "--cpunodebind",
                    "--physcpubind",
                    "--membind",
                    "--interleave",
                    "--preferred",
                    "-N",
                    "-C",
                    "-m",
                    "-i",
                ),
                CPUS,
            ),
        },
        words=(COMMAND,),
        clusters=False,
    ),
    "nice": Rules(options_of(number="-n --adjustment"), words=(COMMAND,), clusters=False),
    "timeout": Rules(
        {**options_of(number="-k --kill-after"), **dict.fromkeys(("-s", "--signal"), TEXT)},
        words=(NUMBER, COMMAND),
        clusters=False,
    ),
}
_PARTS = (re.compile(r"[^\w.+/-]+"), re.compile(r"[^\w.+-]+"), re.compile(r"[^\w.-]+"))
_OPTION = re.compile(r"-[A-Za-z](?=.)")


def is_starter(name: str, place: str | None = None) -> bool:
    """Say whether a program is one of these: by its name, or by any that the file at `place` has through links."""
    return any(True for _name in _starters_of(name, place, (*STARTERS, *COMMON)))


def is_told_nothing(name: str) -> bool:
    """Say whether a program is an interpreter of any text: it may be told nothing, so it is of no use to a job."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in INTERPRETERS if pattern not in REMOTE)


def is_shell_for_elsewhere(name: str, place: str) -> bool:
    """Say whether a program may start ranks on other nodes: ssh and rsh, and what is none of these at all."""
    return set(_starters_of(name, place)) <= set(REMOTE)


def starter_in(text: str) -> str:
    """Return the first of these programs that a word names wherever it may be parted, "" if it names none.

    Each part is looked up once, however often it stands there: a list of processors has thousands of parts.
    """
    names = dict.fromkeys(_names_in(text))
    return next((name for name in names if any(True for _name in _starters_of(name, _place_of(name)))), "")


def _names_in(text: str) -> Iterator[str]:
    for pattern in _PARTS:
        for part in pattern.split(text):
            option = _OPTION.match(part)
            names = {part, part[option.end() :] if option else part, part[part.find("/") :] if "/" in part else part}
            yield from (name for name in names if name.strip("./-"))


def _place_of(name: str) -> str | None:
    if "/" in name:
        return name
    folders = [*os.environ.get("PATH", "").split(os.pathsep), *USUAL_FOLDERS]
    return shutil.which(name, path=os.pathsep.join(filter(None, folders)))


def _starters_of(name: str, place: str | None, patterns: tuple[str, ...] = STARTERS) -> Iterator[str]:
    """Yield the names, of those that a program has, which the patterns have."""
    own = Path(name).name
    is_starter_name = _any_of(patterns)
    for candidate in dict.fromkeys([own, *(_names_of(place) if place else ())]):
        is_own_choice = candidate in _MULTIPLE and candidate != own
        if not is_own_choice and is_starter_name(candidate):
            yield candidate


@functools.cache
def _any_of(patterns: tuple[str, ...]) -> Callable[[str], object]:
    """Return what says whether a name has one of these patterns, looked at together."""
    return re.compile("|".join(map(fnmatch.translate, patterns))).match


def _names_of(place: str) -> Iterator[str]:
    """Yield the names that a file has on the way through its links."""
    path = Path(place)
    for _turn in range(_MOST_LINKS):
        yield path.name
        try:
            path = path.parent / path.readlink()
        except OSError:
            break
    yield Path(os.path.realpath(place)).name
