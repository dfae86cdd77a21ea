"""Join a cgroup and become a program: ``enter.py CGROUP.PROCS PROGRAM [ARGUMENT...]``.

Run by path, with the standard library only.
"""

import os
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Write this process into the group, so that all it starts is there too, and become the program."""
    members, *argv = arguments
    try:
        Path(members).write_text(str(os.getpid()))
        os.execvp(argv[0], argv)  # noqa: S606
    except OSError as error:
        sys.exit(f"enter.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
