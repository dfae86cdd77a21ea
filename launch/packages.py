"""Install a hashed lock into a virtual environment. Written for old Pythons, too, as launch.bootstrap."""

import re
import subprocess
import tempfile
from pathlib import Path

_PIP = ["-m", "pip", "install", "-q", "--no-compile", "--disable-pip-version-check", "--require-hashes", "-r"]
_UV = ["-m", "uv", "pip", "install", "-q", "--require-hashes", "-r"]


def install(python, lock):
    """Return "" when the packages are installed and compiled, or what was said when they could not be.

    A lock that holds uv is installed by it, in a third of pip's time. uv reads none of pip's settings: where it does
    not get on, pip does it.
    """
    failure = "" if _install_by_uv(python, lock) else _failure_of([python, *_PIP, lock])
    if failure:
        return failure
    # On all processors; a file that is for another Python stays as it is.
    folder = Path(python).parents[1]
    subprocess.run([python, "-m", "compileall", "-q", "-j0", folder], capture_output=True, check=False)
    return ""


def _install_by_uv(python, lock):
    pinned = _pinned_uv(lock.read_text(encoding="utf-8"))
    if not pinned:
        return False
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder) / "uv.txt"
        alone.write_text(pinned, encoding="utf-8")
        return not _failure_of([python, *_PIP, alone]) and not _failure_of([python, *_UV, lock, "--python", python])


def _pinned_uv(lock):
    match = re.search(r"^uv==(?:.*\\\n)+.*\n", lock, re.MULTILINE)
    return match.group() if match else ""


def _failure_of(argv):
    done = subprocess.run([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if not done.returncode:
        return ""
    return done.stdout.decode(errors="replace").strip()[-1500:] or f"exit status {done.returncode}"
