"""The clock of a site's service as all of its processes see it: moved by a library that a C compiler makes."""

import shutil
import struct
import subprocess
from pathlib import Path

COMPILER = shutil.which("cc")
FAULT = "set-server-clock"
WITHOUT = f"{FAULT} is left out: there is no C compiler (cc) here, which the moved clock needs."
_SOURCE = Path(__file__).with_name("moved_clock.c")


class ServerClock:
    """The clock of whatever is started with `env`; the files are in a folder that every user may pass through."""

    def __init__(self, folder: Path) -> None:
        self._by, library = folder / "clock", folder / "moved_clock.so"
        self.set(0)
        argv = [COMPILER or "cc", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl"]
        subprocess.run(argv, check=True, capture_output=True)
        self.env = {"LD_PRELOAD": str(library), "FATHOM_MOVED_CLOCK": str(self._by)}

    def set(self, by_s: int) -> None:
        """Have it be off by so much from now on."""
        with self._by.open("r+b" if self._by.exists() else "w+b") as file:
            file.write(struct.pack("l", by_s))
