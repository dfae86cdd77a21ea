"""What this machine can do and has: namespaces, interfaces, networks and processes, through iproute2 and /proc."""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Network
from pathlib import Path

_NETNS = Path("/run/netns")
_TUN = Path("/dev/net/tun")
_STATUS = Path("/proc/self/status")
_CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
_GRACE_S = 2.0


class LabError(RuntimeError):
    """A lab that could not be built or taken down; the text says what was refused and what to do."""


def possible() -> str | None:
    """Return why no lab can be built on this machine, in a sentence, or None if it can."""
    if sys.platform != "linux":
        return "The lab needs Linux: it is made of network namespaces and TUN devices."
    if os.geteuid() != 0:
        return "The lab needs root, to make network namespaces and TUN devices (try sudo)."
    held = int(_STATUS.read_text().split("CapEff:")[1].split()[0], 16)
    missing = [name for name, bit in _CAPABILITIES.items() if not held >> bit & 1]
    if missing:
        return (
            f"The lab needs the capabilities {' and '.join(missing)}, which root lacks here (is this a container?)."
        )
    for program, package in (("ip", "iproute2"), ("nsenter", "util-linux")):
        if shutil.which(program) is None:
            return f"The lab needs the {program} command: install the package {package}."
    try:
        os.close(os.open(_TUN, os.O_RDWR))
    except OSError as error:
        return f"The lab needs {_TUN}, which cannot be opened: {error.strerror} (try modprobe tun)."
    return None


def run(argv: Sequence[str | Path], *, feed: str = "") -> subprocess.CompletedProcess[str]:
    """Run a short command to its end, out of the reach of a Ctrl-C in the terminal; OSError if it cannot start."""
    return subprocess.run(argv, input=feed, capture_output=True, text=True, check=False, start_new_session=True)


def ip(*arguments: object, netns: str | None = None) -> str:
    """Run iproute2, in a namespace if given; LabError holds what it refused."""
    return do("ip", *(["-n", netns] if netns else []), *arguments)


def do(*words: object, feed: str = "") -> str:
    """Run a short command and return what it printed; LabError holds what it refused."""
    argv = [str(word) for word in words]
    try:
        done = run(argv, feed=feed)
    except OSError as error:
        raise LabError(f"{argv[0]} cannot be run: {error.strerror}.") from error
    if done.returncode != 0:
        raise LabError(f"{' '.join(argv)} was refused: {(done.stderr.strip() or done.stdout.strip())[-1000:]}")
    return done.stdout


def set_sysctl(netns: str, key: str, value: str) -> None:
    """Set a kernel parameter of a namespace; LabError names it."""
    path = "/proc/sys/" + key.replace(".", "/")
    done = run(["ip", "netns", "exec", netns, "tee", path], feed=value)
    if done.returncode != 0:
        raise LabError(f"{key} = {value} was refused in {netns}: {done.stderr.strip()}")


def namespaces(prefix: str) -> list[str]:
    """Return the named network namespaces that begin with a prefix."""
    return sorted(path.name for path in _NETNS.glob("*") if path.name.startswith(prefix))


def interfaces(prefix: str) -> list[str]:
    """Return this machine's own interfaces that begin with a prefix."""
    return sorted(path.name for path in Path("/sys/class/net").iterdir() if path.name.startswith(prefix))


def networks_in_use() -> list[IPv4Network]:
    """Return every IPv4 network that this machine has an address in or a route to.

    The default route is left out, also one in two halves, as a VPN writes it.
    """
    used = [
        IPv4Network(f"{address['local']}/{address['prefixlen']}", strict=False)
        for link in json.loads(ip("-j", "-4", "address"))
        for address in link.get("addr_info", [])
        if "local" in address
    ]
    routes = [route["dst"] for route in json.loads(ip("-j", "-4", "route", "show", "table", "all"))]
    return used + [network for dst in routes if dst != "default" and (network := IPv4Network(dst)).prefixlen > 1]


def command_of(pid: int) -> list[str]:
    """Return a process's command line, empty if it is gone or has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def processes(matches: Callable[[int], bool]) -> list[int]:
    """Return the processes that match, this one left out."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return sorted(pid for pid in pids if pid != os.getpid() and matches(pid))


def processes_within(netns: Iterable[str]) -> Callable[[int], bool]:
    """Return a check whether a process lives in one of these namespaces."""
    homes = {(there.st_dev, there.st_ino) for there in ((_NETNS / name).stat() for name in netns)}

    def lives_there(pid: int) -> bool:
        try:
            there = Path(f"/proc/{pid}/ns/net").stat()
        except OSError:
            return False
        return (there.st_dev, there.st_ino) in homes

    return lives_there


def end_processes(matches: Callable[[int], bool]) -> int:
    """Ask the processes that match to end, kill those that do not within 2 s, and return how many there were.

    Each is held by a pidfd before it is looked at again, so that a number used anew is never hit.
    """
    with contextlib.ExitStack() as stack:
        handles = []
        for pid in processes(matches):
            with contextlib.suppress(ProcessLookupError):
                handle = os.pidfd_open(pid)
                stack.callback(os.close, handle)
                if matches(pid):
                    handles.append(handle)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for handle in handles:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, number)
            if _all_end(handles):
                break
        return len(handles)


def _all_end(handles: list[int]) -> bool:
    deadline = time.monotonic() + _GRACE_S
    waiting = handles
    while waiting and time.monotonic() < deadline:
        ended, _, _ = select.select(waiting, [], [], deadline - time.monotonic())
        waiting = [handle for handle in waiting if handle not in ended]
    return not waiting
