"""The launchers: Open MPI, MPICH, Intel MPI and Slurm's, each a few lines; a decorator puts it on the list."""

import re
from collections.abc import Callable, Sequence
from typing import ClassVar

from apps.bench.outputs import texts
from apps.bench.toolkit import Command, Output, Stage
from apps.bench.tools._mpi import slurm
from apps.bench.tools._mpi.launch import (
    ROLE,
    Launch,
    Launcher,
    interface_of,
    make_command,
    networks_of,
    runs_as_root,
)
from apps.bench.tools._mpi.maps import Got, RankPlace, read_list, read_mask

_LAUNCHERS: dict[str, Launcher] = {}
# Starting a small program on every node, were it by a slow log-in.
PROBE_LIMIT_S = 60.0


def register(cls: type[Launcher]) -> type[Launcher]:
    """Put a launcher on the list; two of one name are a mistake in the program."""
    if cls.name in _LAUNCHERS:
        raise ValueError(f"two launchers are called {cls.name!r}")
    _LAUNCHERS[cls.name] = cls()
    return cls


def get(name: str) -> Launcher:
    """Return the launcher of a name."""
    return _LAUNCHERS[name]


def all_launchers() -> tuple[Launcher, ...]:
    """Return every launcher, in the order in which they are offered."""
    return tuple(_LAUNCHERS.values())


def _remote_agent(launch: Launch, write: Callable[[str], list[str]]) -> list[str]:
    """Return the options that name the program which starts ranks elsewhere, none where no rank runs elsewhere."""
    name = launch.params["remote_agent"]
    return write(f"{{program:{name}}}") if name and launch.used != [0] else []


@register
class OpenMpi(Launcher):
    """mpirun of Open MPI: a hostfile, and a rankfile where ranks are bound."""

    name, label, program = "openmpi", "Open MPI", "mpirun"

    def command(self, launch: Launch) -> Command:
        """Return mpirun with the map displayed and the bindings reported."""
        hosts = [f"{launch.nodes[index].address} slots={count}" for index, count in launch.counts.items()]
        argv = [self.program, "--hostfile", "{work}/hosts", "-np", str(len(launch.slots))]
        argv += ["--display-map", "--report-bindings"]
        files = [("hosts", "\n".join(hosts) + "\n")]
        if launch.is_bound:
            argv += ["--rankfile", "{work}/ranks"]
            files.append(("ranks", _rankfile(launch)))
        else:
            argv += ["--map-by", "node" if launch.is_cyclic else "slot", "--bind-to", "none"]
        if launch.params["oversubscribe"]:
            # A rank that waits keeps its processor busy unless it is told that others need it.
            argv += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        networks = networks_of([launch.nodes[index] for index in {0, *launch.used}])
        if launch.used != [0] and networks:
            for part in ("btl_tcp", "oob_tcp"):
                argv += ["--mca", f"{part}_if_include", ",".join(networks)]
        argv += _remote_agent(launch, lambda agent: ["--mca", "plm_rsh_agent", agent])
        argv += ["--wdir", launch.directory] if launch.directory else []
        argv += ["--allow-run-as-root"] if runs_as_root(launch.nodes[0]) else []
        return make_command(launch, [*argv, *launch.argv], files)

    def read_map(self, outputs: Sequence[Output], output: Output) -> Got:
        """Return the bindings as reported by the ranks' own nodes, else the map as displayed."""
        text = texts.read_text(output)
        ranks: dict[int, RankPlace] = {}
        host = ""
        for line in text.splitlines():
            node = _MAP_NODE.match(line)
            host = node[1] if node else host
            planned = _MAP_RANK.search(line)
            if planned and host:
                ranks.setdefault(int(planned[1]), RankPlace(host, _masked(planned[2])))
        for name, rank, rest in _BOUND.findall(text):
            ranks[int(rank)] = RankPlace(name, _masked(rest))
        return ranks


_MAP_NODE = re.compile(r"\s*Data for node: (\S{1,200})\s")
_MAP_RANK = re.compile(r"Process rank: (\d{1,6}) Bound: (.*)$")
_BOUND = re.compile(r"^\[([^\s:\[\]]{1,200}):\d{1,9}\] MCW rank (\d{1,6}) ((?:is not )?bound.*)$", re.M)
_MASK = re.compile(r"(?:\[[/~]*[B.][B./~]*\])+\s*$")


def _masked(text: str) -> tuple[str, ...] | None:
    """Return the cores of a picture such as [B/.][./.]: a socket in each pair of brackets, a core between bars."""
    if "not bound" in text or "UNBOUND" in text:
        return ()
    picture = _MASK.search(text)
    if not picture:
        return None
    sockets = picture[0].strip().strip("[]").split("][")
    return tuple(
        f"{socket}:{core}"
        for socket, cores in enumerate(sockets)
        for core, threads in enumerate(cores.split("/"))
        if "B" in threads
    )


def _rankfile(launch: Launch) -> str:
    lines = [
        f"rank {rank}={launch.nodes[slot.node].address} slot={slot.core.label}"
        for rank, slot in enumerate(launch.slots)
        if slot.core
    ]
    return "\n".join(lines) + "\n"


class Hydra(Launcher):
    """mpiexec of the MPICH family: a hostfile whose wrapping deals ranks out in turn."""

    program = "mpiexec.hydra"
    # The option of a file with hosts and how many ranks each takes.
    hosts: ClassVar[str] = "-f"

    def argv_of(self, launch: Launch) -> list[str]:
        """Return the launcher's own words."""
        argv = [self.program, self.hosts, "{work}/hosts"]
        argv += _remote_agent(launch, lambda agent: ["-launcher", "ssh", "-launcher-exec", agent])
        argv += ["-wdir", launch.directory] if launch.directory else []
        return argv

    def files_of(self, launch: Launch) -> list[tuple[str, str]]:
        """Return the hostfile."""
        width = {index: 1 if launch.is_cyclic else count for index, count in launch.counts.items()}
        lines = [f"{launch.nodes[index].address}:{count}" for index, count in width.items()]
        return [("hosts", "\n".join(lines) + "\n")]

    def cpus_of(self, launch: Launch) -> str:
        """Return the processors of a node's ranks in turn: one list serves all nodes, so the longest is taken."""
        longest: list[str] = []
        for index in launch.used:
            longest = max(longest, launch.cpus_of(index), key=lambda cpus: len(cpus))
        return ",".join(longest)


@register
class Mpich(Hydra):
    """MPICH: Hydra binds, and a probe started in the same way tells where ranks land, for Hydra does not."""

    name, label = "mpich", "MPICH"
    programs = ("grep",)

    def _argv(self, launch: Launch) -> list[str]:
        bound = ["-bind-to", f"user:{self.cpus_of(launch)}"] if launch.is_bound else []
        return [*self.argv_of(launch), *bound, "-n", str(len(launch.slots))]

    def command(self, launch: Launch) -> Command:
        """Return mpiexec."""
        return make_command(launch, [*self._argv(launch), *launch.argv], self.files_of(launch))

    def before(self, launch: Launch) -> tuple[Stage, ...]:
        """Return the probe: each rank prints its processors and its host, behind the rank that Hydra puts first."""
        launcher, *words = self._argv(launch)
        # The second pattern takes the host's name, the only line of the two files without a colon.
        print_place = ("grep", "-hE", "^Cpus_allowed_list|^[^:]*$", "/proc/self/status", "/proc/sys/kernel/hostname")
        probe = Command(
            role=ROLE,
            node_index=0,
            argv=(launcher, "-l", *words, *print_place),
            time_limit_s=PROBE_LIMIT_S,
            measures=False,
            optional=True,
            files=tuple(self.files_of(launch)),
        )
        return (Stage("map", (probe,)),)

    def read_map(self, outputs: Sequence[Output], output: Output) -> Got:
        """Return what the probe found."""
        text = "\n".join(texts.read_text(other) for other in outputs if other.stage == "map")
        cpus = dict(re.findall(r"^\[(\d{1,6})\] Cpus_allowed_list:\s*([\d,-]{1,2000})$", text, re.M))
        hosts = dict(re.findall(r"^\[(\d{1,6})\] ([^\s:]{1,200})$", text, re.M))
        return {
            int(rank): RankPlace(host, cpus=read_list(cpus[rank])) for rank, host in hosts.items() if rank in cpus
        }


@register
class IntelMpi(Hydra):
    """Intel MPI: pins by a list of processors, and its first rank reports the pins of all."""

    name, label = "intelmpi", "Intel MPI"
    # Of the other option's file it takes the hosts only, and fills the cores of the first one.
    hosts = "-machinefile"

    def command(self, launch: Launch) -> Command:
        """Return mpiexec with the report of the library's own start."""
        pins = ["-genv", "I_MPI_PIN_PROCESSOR_LIST", self.cpus_of(launch)] if launch.is_bound else []
        argv = [*self.argv_of(launch), *_data_plane(launch), "-genv", "I_MPI_DEBUG", "4", *pins]
        argv += ["-n", str(len(launch.slots))]
        return make_command(launch, [*argv, *launch.argv], self.files_of(launch))

    def read_map(self, outputs: Sequence[Output], output: Output) -> Got:
        """Return the table of pins."""
        pins = _PIN.findall(texts.read_text(output))
        return {int(rank): RankPlace(host, cpus=read_list(cpus)) for rank, host, cpus in pins}


def _data_plane(launch: Launch) -> list[str]:
    """Return the options that keep launcher and messages to the data plane, where its name is known of all nodes."""
    name = interface_of([launch.nodes[index] for index in {0, *launch.used}])
    return ["-iface", name, "-genv", "FI_TCP_IFACE", name] if launch.used != [0] and name else []


_PIN = re.compile(r"^\[0\] MPI startup\(\): (\d{1,6}) +\d{1,9} +(\S{1,200}) +\{([\d,-]{1,2000})\}", re.M)


@register
class Srun(Launcher):
    """Slurm's own launcher: it queues, chooses the nodes, starts the ranks and binds them."""

    name, label, program = "slurm", "Slurm", "srun"
    programs = ("squeue",)

    def command(self, launch: Launch) -> Command:
        """Return srun, which waits in the queue first; no longer than the limit that is set for that."""
        return slurm.command(launch)

    def before(self, launch: Launch) -> tuple[Stage, ...]:
        """Return the look whether the job can start at all, and the watch over the queue."""
        return slurm.before(launch)

    def after(self, launch: Launch) -> tuple[Stage, ...]:
        """Return the scheduler's account of the job."""
        return slurm.after(launch)

    def read_map(self, outputs: Sequence[Output], output: Output) -> Got:
        """Return the tasks' nodes, and the masks they were bound by."""
        text = texts.read_text(output)
        ranks: dict[int, RankPlace] = {}
        for host, tasks in re.findall(
            r"^srun: launching StepId=\S+ on host (\S+), .*tasks: \[?([\d,-]+)", text, re.M
        ):
            for rank in read_list(tasks):
                ranks[rank] = RankPlace(host)
        for host, rank, mask in re.findall(
            r"^cpu-bind(?:-\w+)?=MASK - (\S+), task +(\d{1,6}) +\d+ \[\d+\]: mask (0x[0-9a-fA-F]{1,512}) set",
            text,
            re.M,
        ):
            ranks[int(rank)] = RankPlace(host, cpus=read_mask(mask))
        return ranks
