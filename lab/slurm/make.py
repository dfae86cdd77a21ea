"""Starts munge, slurmctld and slurmd on the nodes of a lab's Slurm cluster."""

import secrets
from collections.abc import Mapping
from pathlib import Path

from lab import services
from lab.machine import LabError
from lab.rooms import Room
from lab.services import Service, need
from lab.slurm.spec import Slurm
from lab.state import Place

_ETC = Path("/etc/slurm")
_RUN_MUNGE = Path("/run/munge")
_CONFIG = """
ClusterName=lab
SlurmctldHost={login}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
StateSaveLocation={state}/ctld
SlurmdSpoolDir={state}/%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/dev/null
SlurmdLogFile=/dev/null
# Nothing of the machine's own: no cgroups (ranks are bound without), no accounting daemon.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
# What a job came to is read after its end: kept long enough for that.
MinJobAge=3600
JobCompType=jobcomp/filetxt
JobCompLoc={state}/completed.txt
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmctldTimeout=300
SlurmdTimeout=300
InactiveLimit=0
KillWait=5
Waittime=0
MpiDefault=none
{nodes}
PartitionName={partition} Nodes={names} Default=YES MaxTime={minutes} State=UP
"""


def start(slurm: Slurm, rooms: Mapping[str, Room], addresses: Mapping[str, str], place: Place) -> list[Service]:
    """Start the cluster and return its servers when every node is idle; LabError names what failed."""
    packages = {"munged": "munge", "slurmctld": "slurm-wlm", "slurmd": "slurm-wlm", "sinfo": "slurm-wlm"}
    programs = {name: need(name, package, "Slurm") for name, package in packages.items()}
    if not _ETC.is_dir():
        raise LabError(f"{_ETC} is missing: install the package slurm-wlm.")
    folder = place.folder.resolve() / "slurm"
    etc = folder / "etc"
    for path in (etc, folder / "ctld"):
        path.mkdir(parents=True, exist_ok=True)
    (etc / "slurm.conf").write_text(_config(slurm, addresses, folder), encoding="utf-8")
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    started = []
    for node in slurm.members:
        room = rooms[node.name]
        room.bind(etc, _ETC)
        started.append(_start_munge(room, programs["munged"], key))
    login = rooms[slurm.login.name]
    controller = [programs["slurmctld"], "-D"]
    started.append(services.start(login, "slurmctld", controller, ready=services.listens(login, 6817)))
    for node in slurm.nodes:
        room = rooms[node.name]
        (folder / node.name).mkdir(exist_ok=True)
        argv = [programs["slurmd"], "-D", "-N", node.name]
        started.append(services.start(room, "slurmd", argv, ready=services.listens(room, 6818)))
    services.wait_for(lambda: _are_idle(slurm, login, programs["sinfo"]), "Slurm's nodes are not idle")
    return started


def _config(slurm: Slurm, addresses: Mapping[str, str], folder: Path) -> str:
    # More than the machine has, if the file says so: its processors stand for those of several nodes.
    lines = [
        f"NodeName={node.name} NodeAddr={addresses[node.name]} CPUs={slurm.cpus} State=UNKNOWN"
        for node in slurm.nodes
    ]
    return _CONFIG.format(
        login=f"{slurm.login.name}({addresses[slurm.login.name]})",
        state=folder,
        nodes="\n".join(["SlurmdParameters=config_overrides", *lines]),
        partition=slurm.partition,
        names=",".join(node.name for node in slurm.nodes),
        minutes=slurm.minutes,
    )


def _start_munge(room: Room, program: str, key: Path) -> Service:
    room.make_folder(_RUN_MUNGE)
    room.do("chmod", "755", _RUN_MUNGE)
    keep = room.folder / "munge"
    keep.mkdir(parents=True, exist_ok=True)
    own = [f"--{name}={keep / name}" for name in ("pid-file", "log-file", "seed-file")]
    # By force: its folders belong to whoever runs the lab, not to a user of its own.
    argv = [program, "--foreground", "--force", f"--key-file={key}", *own]
    return services.start(room, "munged", argv, ready=services.answers(room, "munge", "-n"))


def _are_idle(slurm: Slurm, login: Room, sinfo: str) -> bool:
    states = login.do(sinfo, "--noheader", "--Node", "--format", "%T").split()
    return len(states) == len(slurm.nodes) and set(states) <= {"idle", "mixed", "allocated"}
