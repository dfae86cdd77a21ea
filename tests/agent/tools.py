"""Programs for jobs to run: small scripts of /bin/sh and Python, put on the agent's allow-list."""

import json
import shutil
from pathlib import Path

SHELL = shutil.which("sh") or "/bin/sh"
SCRIPTS = {
    "say": 'echo "out: $*"; echo "err: $*" >&2; exit 3',
    "nap": 'exec sleep "$1"',
    "where": "pwd; id -u; id -G; env; touch made; ls",
    "serve": 'printf "about to "; sleep 0.3; printf "listen"; sleep 0.2; printf "ing\\n"; exec sleep "$1"',
    "flood": "head -c 1000000 /dev/zero | tr '\\0' x; echo end >&2",
    "stubborn": 'trap "" TERM; echo deaf; sleep "$1" & while :; do sleep 0.1; done',
    "family": 'sleep "$1" & sleep "$1" & wait',
    "scatter": 'setsid sleep "$1" & (cd / && exec setsid sleep "$1") & sleep "$1"',
    "limits": "ulimit -c",
    "stamp": "date +%s.%N",
    "copy": 'cat input > output; ls -l input > listing; echo "$1 $2 $OMP_NUM_THREADS $RSH"',
    "snatch": "ln -s /etc/passwd link; mkfifo pipe; ln input twin; mkdir folder; echo kept > plain",
    "noise": "sleep 3; head -c 40000 /dev/urandom",
    "gorge": "exec head -c 100000000 /dev/zero > much",
    "hail": "echo first; head -c 3000000 /dev/urandom; echo; echo last",
    "pour": "head -c 3000 /dev/zero > first; head -c 3000 /dev/zero > second; echo done",
}


def install(home: Path, agent_folder: Path) -> None:
    """Write the scripts where any user can run them, and allow them in agent.json."""
    folder = home / "tools"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    for name, text in SCRIPTS.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    allow(agent_folder, {name: str(folder / name) for name in SCRIPTS})


def allow(agent_folder: Path, programs: dict[str, str | None]) -> None:
    """Add programs to the allow-list."""
    path = agent_folder / "agent.json"
    settings = json.loads(path.read_text())
    settings["programs"] |= programs
    path.write_text(json.dumps(settings))


def configure(agent_folder: Path, **settings: object) -> None:
    """Set further settings of agent.json."""
    path = agent_folder / "agent.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))
