"""The servers that a GridFTP transfer needs, the client that commands it, and the files that come and go."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.bench.network import addresses
from apps.bench.outputs import texts
from apps.bench.text import Message, _
from apps.bench.toolkit import Command, NodeRef, ParameterError, Params, Plan, Stage
from apps.bench.tools._gridftp.options import DESTINATION, MEMORY, SOURCE
from apps.bench.tools._storage import places

SERVE, DATA, PREPARE, MEASURE = "serve", "serve-data", "prepare", "measure"
LOG = "transfers.log"
PROGRAMS = ("globus-url-copy", "globus-gridftp-server", places.CHECK_PROGRAM, places.CLEAN_PROGRAM)
# The server says so in its log, which goes to stderr, when it listens.
READY_PATTERN = r"Server started in daemon mode\."
MARGIN_S = 60.0
# Nodes that have more addresses call from the first of them.
MOST_CALLERS = 200
_MEMORY = {SOURCE: "/dev/zero", DESTINATION: "/dev/null"}
_CONFIG, _PAIRS = "gridftp.conf", "pairs.txt"


@dataclass(frozen=True)
class TransferEnd:
    """One end of the transfer: its role, the nodes that take part, and the paths there, one for each file.

    `server` is False where the client reads or writes the files itself.
    """

    role: str
    nodes: tuple[NodeRef, ...]
    paths: tuple[str, ...]
    server: bool

    @property
    def on_disk(self) -> bool:
        """Return whether its files lie on a file system."""
        return self.paths[0] != _MEMORY[self.role]

    def urls(self, port: int) -> list[str]:
        """Return the URL of each path as the client must write it."""
        if not self.server:
            return [f"file://{path}" for path in self.paths]
        return [f"ftp://{bracketed(self.nodes[0].address)}:{port}{path}" for path in self.paths]


def make_ends(
    params: Params, nodes: Mapping[str, Sequence[NodeRef]], slug: str, servers: Sequence[str]
) -> tuple[TransferEnd, TransferEnd]:
    """Return source and destination; `servers` are the roles that run one. ParameterError names what cannot be."""
    ends = []
    for role, medium in ((SOURCE, params["read_from"]), (DESTINATION, params["write_to"])):
        members = tuple(nodes[role][: params["data_nodes"] or None])
        for node in members:
            _refuse_scope(node, role)
        ends.append(TransferEnd(role, members, _paths(params, members[0], role, medium, slug), role in servers))
    texts.refuse_mixed_families(ends[1].nodes[0], ends[0].nodes[0])
    if len(servers) < 2 and any(len(end.nodes) > 1 for end in ends):
        text = _("Striping needs servers on both ends: choose a third-party transfer.")
        raise ParameterError({"data_nodes": Message(text)})
    return ends[0], ends[1]


def make_plan(params: Params, ends: tuple[TransferEnd, TransferEnd], client: NodeRef, client_role: str) -> Plan:
    """Return the plan: mounts seen, files written, servers, the client, and the files removed again."""
    limit = params["time_limit"] + MARGIN_S
    stages = [_check(params, ends)]
    source = ends[0]
    if source.on_disk:
        stages.append(Stage(PREPARE, (_prepare(params, source),)))
    callers = _callers((client, *ends[0].nodes, *ends[1].nodes))
    if is_striped(ends):
        data = [
            _server(params, end, index, limit, ["-dn", "-p", str(params["port"] + 1)], callers)
            for end in ends
            for index in range(len(end.nodes))
        ]
        stages.append(Stage(DATA, tuple(data)))
    stages.append(Stage(SERVE, tuple(_front_end(params, end, limit, ends, callers) for end in ends if end.server)))
    stages.append(Stage(MEASURE, (_transfer(params, ends, client, client_role),)))
    stages.append(_clean(ends))
    return Plan(tuple(stage for stage in stages if stage.commands))


def is_striped(ends: tuple[TransferEnd, TransferEnd]) -> bool:
    """Return whether the data go over more than one node of an end."""
    return any(len(end.nodes) > 1 for end in ends)


def bracketed(address: str) -> str:
    """Return an address as it stands in a URL or before a port."""
    return f"[{address}]" if ":" in address else address


def _paths(params: Params, node: NodeRef, role: str, medium: str, slug: str) -> tuple[str, ...]:
    if medium == MEMORY:
        return (_MEMORY[role],) * params["files"]
    return tuple(places.path_of(node, params, f"{slug}-0-{role}-{number}") for number in range(params["files"]))


def _refuse_scope(node: NodeRef, role: str) -> None:
    if "%" in node.address:
        text = _("GridFTP takes no link-local address such as %(address)s: give the node another one.")
        raise ParameterError({role: Message(text, {"address": node.address})})


def _check(params: Params, ends: tuple[TransferEnd, TransferEnd]) -> Stage:
    commands = [
        command for end in ends if end.on_disk for command in places.check_stage(end.nodes, params, end.role).commands
    ]
    return Stage(places.CHECK, tuple(commands))


def _clean(ends: tuple[TransferEnd, TransferEnd]) -> Stage:
    commands = [
        command
        for end in ends
        if end.on_disk
        for command in places.clean_stage([end.paths] * len(end.nodes), end.role).commands
    ]
    return Stage(places.CLEAN, tuple(commands), cleans_up_after=places.CHECK)


def _prepare(params: Params, source: TransferEnd) -> Command:
    """Return the command that writes the files to be read; random bytes, lest a file system compress them away."""
    pairs = "".join(f"file:///dev/urandom file://{path}\n" for path in source.paths)
    length = str(params["offset"] + params["size"])
    return Command(
        role=SOURCE,
        node_index=0,
        argv=("globus-url-copy", "-len", length, "-f", f"{{work}}/{_PAIRS}"),
        time_limit_s=params["time_limit"],
        measures=False,
        files=((_PAIRS, pairs),),
    )


def _front_end(
    params: Params, end: TransferEnd, limit: float, ends: tuple[TransferEnd, TransferEnd], callers: str
) -> Command:
    own = ["-p", str(params["port"])]
    if is_striped(ends):
        contacts = [f"{bracketed(node.address)}:{params['port'] + 1}" for node in end.nodes]
        own += ["-r", ",".join(contacts)]
    return _server(params, end, 0, limit, own, callers)


def _server(params: Params, end: TransferEnd, index: int, limit: float, own: Sequence[str], callers: str) -> Command:
    address = end.nodes[index].address
    argv = ["globus-gridftp-server", "-c", f"{{work}}/{_CONFIG}", *own, "-control-interface", address]
    argv += ["-data-interface", address, "-Z", f"{{work}}/{LOG}"]
    argv += ["-d", "ERROR,WARN,INFO", "-log-module", "stdio:buffer=0:interval=0"]
    if params["block_size"]:
        argv += ["-bs", str(params["block_size"])]
    if params["data_ports"]:
        argv += ["-port-range", params["data_ports"]]
    if params["sync_writes"] and end.role == DESTINATION:
        argv.append("-sync-writes")
    return Command(
        role=end.role,
        node_index=index,
        argv=tuple(argv),
        time_limit_s=limit,
        background=True,
        ready_pattern=READY_PATTERN,
        measures=False,
        files=((_CONFIG, _config(end, callers)),),
        collect=(LOG,),
        environment=_environment(end.nodes[index]),
    )


def _callers(nodes: Sequence[NodeRef]) -> str:
    """Return the addresses that these nodes call from, "" if those of one cannot be told.

    Whoever else could call a server would have it send to, and read from, any address that its node reaches.
    """
    own = [addresses.plain(node.address) for node in nodes]
    if not all(own):
        return ""
    others = [text for node in nodes for text in addresses.of_interfaces(node.facts) if not _is_loopback(text)]
    # Of those of this machine the kernel chooses one by itself; the server takes the beginning of an address for all.
    loopback = ["127."] if any(map(_is_loopback, own)) else []
    return ",".join(list(dict.fromkeys([*own, *loopback, *others]))[:MOST_CALLERS])


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


def _config(end: TransferEnd, callers: str) -> str:
    """Return the server's configuration: anonymous access, for the length of the run, to the paths of the run alone.

    The file also keeps the machine's own configuration out. The user counts only if the job runs as root.
    """
    only = f"allow_from {callers}\nipc_allow_from {callers}\n" if callers else ""
    right = "R" if end.role == SOURCE else "RW"
    restricted = ",".join(right + path for path in dict.fromkeys(end.paths))
    return f'allow_anonymous 1\nanonymous_user nobody\n{only}restrict_paths "{restricted}"\n'


def _environment(node: NodeRef) -> tuple[tuple[str, str], ...]:
    # Without it the programs ask the resolver for the machine's own name, which many cannot answer.
    return (("GLOBUS_HOSTNAME", node.address),)


def _transfer(params: Params, ends: tuple[TransferEnd, TransferEnd], client: NodeRef, role: str) -> Command:
    argv = ["globus-url-copy", "-vb", "-p", str(params["streams"])]
    for option, name in (("-tcp-bs", "window"), ("-bs", "block_size")):
        if params[name]:
            argv += [option, str(params[name])]
    if params["concurrency"] > 1:
        argv += ["-cc", str(params["concurrency"])]
    if params["pipelining"]:
        argv.append("-pp")
    if is_striped(ends):
        argv += ["-stripe", "-sbs", str(params["stripe_block"])]
    if params["read_from"] == MEMORY or params["offset"]:
        argv += ["-off", str(params["offset"]), "-len", str(params["size"])]
    if params["duration"]:
        argv += ["-t", f"{params['duration']:.0f}"]
    if params["retries"]:
        argv += ["-rst", "-rst-retries", str(params["retries"]), "-rst-interval", f"{params['retry_interval']:.0f}"]
    if params["verify"]:
        argv.append("-verify-checksum")
    if ":" in client.address:
        argv.append("-ipv6")
    pairs = list(zip(ends[0].urls(params["port"]), ends[1].urls(params["port"]), strict=True))
    several = params["files"] > 1
    argv += ["-f", f"{{work}}/{_PAIRS}"] if several else list(pairs[0])
    return Command(
        role=role,
        node_index=0,
        argv=tuple(argv),
        time_limit_s=params["time_limit"],
        files=((_PAIRS, "".join(f"{a} {b}\n" for a, b in pairs)),) if several else (),
        environment=_environment(client),
    )
