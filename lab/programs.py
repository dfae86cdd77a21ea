"""The lab's own C programs, compiled once for each text of theirs."""

import hashlib
import os
import shutil
from pathlib import Path

from lab import machine
from lab.machine import LabError

_FLAGS = ("-O2", "-Wall", "-Wextra", "-pthread")


def compiled(source: Path, folder: Path, *, libraries: tuple[str, ...] = ()) -> Path:
    """Return a program in `folder`, compiled now unless it is there already; LabError if that fails.

    `source` is a C file or a folder of them; `libraries` are names known to pkg-config. A program of ours ends with
    status 2 when it gets no arguments.
    """
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    files = sorted(source.glob("*.c")) if source.is_dir() else [source]
    headers = sorted(source.glob("*.h"))
    text = b"".join(file.read_bytes() for file in files + headers) + repr((compiler, _FLAGS, libraries)).encode()
    program = folder / f"{source.stem}-{hashlib.sha256(text).hexdigest()[:12]}"
    if _runs(program):
        return program
    if compiler is None:
        raise LabError("No C compiler was found (cc, gcc or clang).")
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{program.name}.{os.getpid()}"
    argv = [*compiler.split(), *_FLAGS, "-o", str(draft), *map(str, files), *_flags_of(libraries, source)]
    try:
        done = machine.run(argv)
    except OSError as error:
        raise LabError(f"The C compiler {compiler} does not run: {error.strerror}.") from error
    if done.returncode != 0:
        raise LabError(f"The C compiler refused {source.name}: {done.stderr.strip()[:500]}.")
    draft.replace(program)
    if not _runs(program):
        raise LabError(f"The compiled {program} does not run (may programs be run from that folder?).")
    return program


def _flags_of(libraries: tuple[str, ...], source: Path) -> list[str]:
    if not libraries:
        return []
    packages = " and ".join(f"lib{name.removeprefix('lib')}-dev" for name in libraries)
    try:
        return machine.do("pkg-config", "--cflags", "--libs", *libraries).split()
    except LabError as error:
        raise LabError(f"{source.name} needs pkg-config and the packages {packages}: {error}") from error


def _runs(program: Path) -> bool:
    try:
        return machine.run([program]).returncode == 2
    except OSError:
        return False
