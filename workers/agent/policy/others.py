"""The rules of programs that write files, move them, or start others: each is allowed by a node's owner alone."""

from __future__ import annotations

from .interpreters import INTERPRETERS
from .rules import COMMAND, FILE, NETWORKS, REMOTE_SHELL, REMOVED, TEXT, URL, Rules, options_of

_FIO_FLAGS = "--group_reporting --time_based --thread"
_FIO_TEXTS = (
    "--name --output-format --eta --filename_format --rw --readwrite --bs --blocksize --size --ioengine --iodepth "
    "--numjobs --direct --rwmixread --rwmixwrite --runtime --ramp_time --fsync --fdatasync --verify --verify_fatal "
    "--verify_state_save --create_only --unlink --log_avg_msec --end_fsync --invalidate --randrepeat --norandommap "
    "--nrfiles --rate --rate_iops --startdelay --percentile_list --lat_percentiles"
)
FIO_ENGINES = ("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "mmap", "io_uring")
_PLAIN_FILES = Rules(words=(FILE,), repeats=True, takes_options=False)
# What a job may ask of Slurm, above what any tool of the service does; 0 and words would be without any limit. Whole
# numbers but where a float stands.
_SLURM_MOST = {
    "--nodes": 100_000, "--ntasks": 100_000, "--ntasks-per-node": 100_000, "--time": 30 * 24 * 60,
    "--immediate": 7 * 86_400, "--wait": 7 * 86_400.0, "--idle": 86_400.0, "--iterate": 86_400,
}  # fmt: skip
_SLURM_ROOM = "--nodes --ntasks --time"
_SLURM_ORDERS = tuple(
    f"{nodes}:{cores}{packed}"
    for nodes in ("block", "cyclic")
    for cores in ("*", "block", "cyclic")
    for packed in ("", ",Pack")
)
_SLURM_PROGRAMS = {f"--{name}": f"{{program:{name}}}" for name in ("sbatch", "squeue", "scancel")}
_NETPIPE = Rules(options_of(text="-l -u -p -n", file="-o"))
_OSU = Rules(options_of(flag="-c -V", text="-m -M -i -x -W --message-size --iterations --warmup --window-size"))
_IMB = Rules(
    options_of(text="-multi -npmin -msglog -iter -time -mem -iter_policy -off_cache"),
    words=(TEXT,),
    repeats=True,
    clusters=False,
    mixes=True,
)
_HYDRA = Rules(
    {
        **options_of(
            flag="-l -prepend-rank", hydra_hosts="-f -machinefile", file="-wdir",
            text="-n -np -iface -launcher", binding="-bind-to", remote_shell="-launcher-exec",
        ),
        "-genv I_MPI_PIN_PROCESSOR_LIST": TEXT, "-genv I_MPI_DEBUG": TEXT, "-genv FI_TCP_IFACE": TEXT,
    },
    words=(COMMAND,), clusters=False, choices={"-launcher": ("ssh", "fork")}, refused=(":",), shares_memory=True,
    starters=("-launcher-exec", "HYDRA_LAUNCHER_EXEC"),
)  # fmt: skip
_MPIRUN = Rules(
    {
        **options_of(
            flag="--display-map --report-bindings --oversubscribe --allow-run-as-root",
            openmpi_hosts="--hostfile",
            openmpi_ranks="--rankfile",
            file="--wdir",
            text="-np -n",
            mapping="--map-by --rank-by",
            binding="--bind-to",
        ),
        "--mca mpi_yield_when_idle": TEXT, "--mca btl_tcp_if_include": NETWORKS,
        "--mca oob_tcp_if_include": NETWORKS, "--mca plm_rsh_agent": REMOTE_SHELL,
    },
    words=(COMMAND,), clusters=False, refused=(":",), shares_memory=True,
    starters=("--mca plm_rsh_agent", "OMPI_MCA_plm_rsh_agent"),
)  # fmt: skip
# Isolated (since Python 3.4): with -m it would look for modules in the folder where it works first of all, whatever
# a job, or an earlier one, put there; and in what variables name, and in the user's own.
_PYTHON = Rules(
    options_of(text="-m -n --loop"), prefix=("-m", "mpi4py.bench", "pingpong"), shares_memory=True, begin=("-I",)
)

TABLE: dict[str, Rules] = {
    "df": Rules(options_of(flag="-B1", text="--output"), clusters=False, attached=True, behind=_PLAIN_FILES),
    "rm": Rules(
        options_of(flag="-rf"), clusters=False, behind=Rules(words=(REMOVED,), repeats=True, takes_options=False)
    ),
    "fincore": Rules(options_of(flag="--bytes --noheadings", text="--output"), clusters=False, behind=_PLAIN_FILES),
    "cp": Rules(words=(FILE, FILE), behind=Rules(words=(FILE, FILE), takes_options=False)),
    "dd": Rules(operands={"if": FILE, "iflag": TEXT, "count": TEXT, "status": TEXT}, takes_options=False),
    "fio": Rules(
        options_of(flag=_FIO_FLAGS, text=_FIO_TEXTS, file="--directory --write_bw_log"),
        clusters=False,
        # Behind some of its options, --norandommap among them, a word is a file of jobs, which may start programs.
        attached=True,
        choices={"--ioengine": FIO_ENGINES},
    ),
    "iozone": Rules(
        options_of(flag="-e -c -w -I -o -+n", text="-r -s -i -j -t", file="-f", files="-F"), clusters=False
    ),
    "ior": Rules(
        options_of(flag="-w -r -c -F -C -e --posix.odirect", text="-a -b -t -s -i", file="-o"),
        clusters=False,
        shares_memory=True,
    ),
    "mdtest": Rules(
        options_of(flag="-F -D -u", text="-n -i -N -w -e -a", file="-d"), clusters=False, shares_memory=True
    ),
    "mpirun": _MPIRUN,
    "mpiexec": _MPIRUN,
    "mpiexec.hydra": _HYDRA,
    "grep": Rules(
        exact=(("-hE", "^Cpus_allowed_list|^[^:]*$", "/proc/self/status", "/proc/sys/kernel/hostname"),),
        takes_options=False,
    ),
    "python3": _PYTHON,
    "srun": Rules(
        options_of(
            flag="--verbose --test-only",
            number=f"{_SLURM_ROOM} --immediate --ntasks-per-node",
            word="--partition",
            # No --jobid: a step in an allocation is `fathom-slurm`'s, which takes none but its team's.
            allocation="--job-name",
            text="--distribution --cpu-bind --mpi",
            file="--chdir",
        ),
        words=(COMMAND,),
        clusters=False,
        # Behind --immediate a word is the command.
        attached=True,
        refused=(":",),
        choices={
            "--distribution": _SLURM_ORDERS,
            "--cpu-bind": ("verbose", "verbose,cores"),
            "--mpi": ("pmix", "pmi2", "none"),
        },
        most=_SLURM_MOST,
    ),
    "squeue": Rules(
        options_of(flag="--noheader", text="--states --format", number="--iterate", allocation="--name"),
        attached=True,
        choices={"--states": ("all",), "--format": ("%i|%T|%r|%V|%S|%e|%N",)},
        most=_SLURM_MOST,
        # Without it the jobs of all are listed.
        needs=("--name",),
    ),
    "sbatch": Rules(),
    "scancel": Rules(),
    "fathom-slurm": Rules(
        options_of(
            number=f"{_SLURM_ROOM} --idle --wait",
            word="--partition",
            allocation="--name",
            named_program=" ".join(_SLURM_PROGRAMS),
        ),
        clusters=False,
        choices={option: (value,) for option, value in _SLURM_PROGRAMS.items()},
        most=_SLURM_MOST,
        needs=("--name", *_SLURM_PROGRAMS),
        behind=Rules(words=(COMMAND,)),
    ),
    "globus-url-copy": Rules(
        options_of(
            flag="-vb -pp -pipeline -stripe -rst -verify-checksum -ipv6 -fast",
            text="-p -parallel -tcp-bs -tcp-buffer-size -bs -block-size -cc -concurrency -sbs -off -len -t "
            "-rst-retries -rst-interval",
            url_list="-f",
        ),
        words=(URL, URL),
        clusters=False,
    ),
    "globus-gridftp-server": Rules(
        options_of(
            flag="-dn -sync-writes",
            text="-p -d -log-module -bs -port-range",
            local="-control-interface -data-interface",
            addresses="-r",
            file="-Z",
            settings="-c",
        ),
        clusters=False,
        # Without a configuration of the job's it would read the node's, or none, and open all that its user can read.
        needs=("-c",),
    ),
}
# Families of programs, by the patterns of their names (fnmatch(3)).
FAMILIES: dict[str, Rules] = {
    "osu_*": _OSU,
    "NP[a-z]*": _NETPIPE,
    "IMB-*": _IMB,
    "bt.*": Rules(),
    "python*": _PYTHON,
    "pypy*": _PYTHON,
    # What runs any text that it is given is told nothing, unless by the owner's word.
    **dict.fromkeys(INTERPRETERS, Rules(shares_memory=True)),
}
