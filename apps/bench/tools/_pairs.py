"""What tools between two nodes share: their roles, their plans, and which side tells why there is no result."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import texts
from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import (
    Command,
    Flag,
    NodeRef,
    Output,
    Parameter,
    ParameterError,
    Plan,
    SampleValue,
    Stage,
    ToolFailure,
    ToolRole,
)

CLIENT, SERVER = "client", "server"
ROLES = (ToolRole(CLIENT, _("Client")), ToolRole(SERVER, _("Server")))
# Connecting, exchanging results, draining a full queue on the longest of paths.
MARGIN_S = 15.0


FORWARD, REVERSE = "forward", "reverse"
DIRECTION = Parameter(
    "direction",
    "choice",
    _("Direction"),
    help=_("Forward sends from the client to the server, reverse from the server to the client."),
    default=FORWARD,
    choices=((FORWARD, _("forward")), (REVERSE, _("reverse"))),
)


def port_parameter(default: int) -> Parameter:
    """Return the parameter of a server's port."""
    return Parameter(
        "port",
        "integer",
        _("Port"),
        help=_("The server's port; it must be free on the server and open in its firewall."),
        default=default,
        minimum=1024,
        maximum=65535,
        advanced=True,
        aside=True,
    )


def duration_parameter(default: float = 10.0, *, minimum: float = 1) -> Parameter:
    """Return the parameter of how long to measure."""
    return Parameter(
        "duration",
        "duration",
        _("Duration"),
        help=_("How long to measure; whole seconds."),
        default=default,
        unit="s",
        minimum=minimum,
        maximum=3600,
    )


def check_whole_seconds(duration: float) -> dict[str, Message]:
    """Return a message if a duration has a fraction that the program would cut off."""
    if duration == int(duration):
        return {}
    return {"duration": Message(_("The program counts whole seconds here: write for example 10 s."))}


def players(nodes: Mapping[str, Sequence[NodeRef]]) -> tuple[NodeRef, NodeRef]:
    """Return the client and the server, which must be of one IP version."""
    server, client = nodes[SERVER][0], nodes[CLIENT][0]
    texts.refuse_mixed_families(server, client)
    return client, server


def refuse_ipv6(tool: str, *nodes: NodeRef) -> None:
    """Raise ParameterError if an address is of IPv6, which the program does not speak."""
    for node in nodes:
        if ":" in node.address:
            text = _("%(tool)s speaks IPv4 only: choose an IPv4 address for %(node)s, not %(address)s.")
            values = {"tool": tool, "node": node.name, "address": node.address}
            raise ParameterError({CLIENT: Message(text, values)})


def one_command(argv: Sequence[str], time_limit_s: float) -> Plan:
    """Return the plan of a program that needs no partner on the other node."""
    command = Command(role=CLIENT, node_index=0, argv=tuple(argv), time_limit_s=time_limit_s)
    return Plan((Stage("measure", (command,)),))


def server_then_client(
    serve: Sequence[str],
    measure: Sequence[str],
    time_limit_s: float,
    ready_pattern: str | None,
    *,
    ends_by_itself: bool = False,
    collect: tuple[str, ...] = (),
) -> Plan:
    """Return the plan of a server in the background and a client that starts when it is ready."""
    listen = Command(
        role=SERVER,
        node_index=0,
        argv=tuple(serve),
        time_limit_s=time_limit_s + MARGIN_S,
        background=True,
        ready_pattern=ready_pattern,
        measures=False,
        ends_by_itself=ends_by_itself,
    )
    send = Command(role=CLIENT, node_index=0, argv=tuple(measure), time_limit_s=time_limit_s, collect=collect)
    return Plan((Stage("serve", (listen,)), Stage("measure", (send,))))


def client_output(outputs: Sequence[Output]) -> Output:
    """Return the output of the client, if it was left to end; a server that never served tells why there is none."""
    if not any(output.role == CLIENT for output in outputs):
        server = server_output(outputs)
        if server:
            raise why_none(server)
    output = texts.find_output(outputs, CLIENT)
    texts.refuse_cut_short(output)
    return output


def server_output(outputs: Sequence[Output]) -> Output | None:
    """Return the last output of the server, or None."""
    return next((output for output in reversed(outputs) if output.role == SERVER), None)


def refuse_server(output: Output, text: str, pattern: re.Pattern[str]) -> None:
    """Raise ToolFailure if a text is what the server printed: the measurement is told by its client."""
    if pattern.search(text):
        raise failure("other-side", output)


def why_none(output: Output, address: str = "") -> ToolFailure:
    """Return why a program gave no result, by the words of the C library in what it printed."""
    text = texts.read_text(output)
    return (
        texts.bad_option(output, text) or texts.system_error(output, text, address) or texts.no_result(output, text)
    )


def figures(samples: Mapping[str, float | None]) -> tuple[SampleValue, ...]:
    """Return the samples that there are."""
    return tuple(SampleValue(metric, float(value)) for metric, value in samples.items() if value is not None)


def require_duration(output: Output, seconds: float, wanted_s: float, *, is_asked: bool) -> None:
    """Raise the failure of a measurement that covers less than nine tenths of the time asked for.

    Where neither a command line nor the output itself tells of a time that was asked for (`is_asked`), it is an
    assumed one, by which nothing is judged: a program may have been told an amount, or have a time of its own.
    """
    if is_asked and seconds < 0.9 * wanted_s:
        raise failure("ended-early", output, seconds=f"{seconds:.1f}", wanted=f"{wanted_s:g}")


def window_flags(requested: float, granted: float | None) -> list[Flag]:
    """Say when the kernel capped the buffer: it doubles what is asked, unless rmem_max or wmem_max forbid it."""
    # Rounded to three digits by some programs.
    if not requested or not granted or granted >= 1.99 * requested:
        return []
    text = _("The kernel granted %(granted)s B of the %(wanted)s B that a window of %(asked)s B needs.")
    values = {"granted": int(granted), "wanted": int(2 * requested), "asked": int(requested)}
    return [Flag("window-capped", "warning", Message(text, values))]


def load_flags(offered: float | None, requested: float | None) -> list[Flag]:
    """Say when the sender could not offer the load (bit/s) it was asked for, if that is known: it measured itself."""
    if offered is None or requested is None or offered >= 0.95 * requested:
        return []
    text = _("The sender offered %(offered)s Mbit/s of the %(asked)s Mbit/s asked for.")
    values = {"offered": f"{offered / 1e6:.1f}", "asked": f"{requested / 1e6:.1f}"}
    return [Flag("sender-too-slow", "warning", Message(text, values))]


def receiver_unseen() -> Flag:
    """Say that nobody told what arrived."""
    text = _("Only the sender's report is there: it counts bytes that may still be on their way.")
    return Flag("receiver-unseen", "warning", Message(text))


def loss_flags(loss: float | None) -> list[Flag]:
    """Say that probes were lost (a fraction)."""
    if not loss:
        return []
    text = _("%(percent)s %% of the probes were lost.")
    return [Flag("loss", "warning", Message(text, {"percent": f"{100 * loss:.3g}"}))]
