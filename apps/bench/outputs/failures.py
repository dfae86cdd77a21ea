"""Why measurements fail, in words: one table for all tools."""

from apps.bench.outputs.reasons import Reason, custom, mpi, recognition, schedulers, storage, transfer
from apps.bench.text import Message, _
from apps.bench.toolkit import Output, ToolFailure

_READ_RAW = _("Read the raw output below; run the command by hand if it does not tell enough.")
_LOOK_BESIDE = _("Look at the other node's output: its program ended, or the path between them broke.")
_COMPARE = _("Compare the raw output with what this version of the program should print.")

FAILURES: dict[str, Reason] = {
    "bad-host": Reason(
        _("%(node)s cannot use the address %(address)s: %(said)s"),
        _("Correct the node's data-plane address, or add the name to its DNS or hosts file."),
        False,
    ),
    "bad-parameter": Reason(
        _("The program on %(node)s refused an option: %(said)s"),
        _("Change the parameter named in the message."),
        False,
    ),
    "buffer-refused": Reason(
        _("The kernel of %(node)s granted less socket buffer than the window asked for."),
        _("Ask for a smaller window, or raise net.core.rmem_max and net.core.wmem_max on both nodes."),
        False,
    ),
    "congestion-control-unavailable": Reason(
        _("The congestion control %(value)s is not available on %(node)s."),
        _("Choose one of net.ipv4.tcp_allowed_congestion_control, or load its kernel module and allow it."),
        False,
    ),
    "no-reply": Reason(
        _("%(node)s sent to %(address)s and nothing came back."),
        _("Check that the other node is up and that firewalls let this traffic through."),
        True,
    ),
    "no-result": Reason(
        _("The program on %(node)s ended without a result: %(said)s"),
        _READ_RAW,
        True,
    ),
    "no-route": Reason(
        _("%(node)s has no route to %(address)s: %(said)s"),
        _("Check the address, the routes and the firewalls between the two nodes."),
        True,
    ),
    "undelivered": Reason(
        _("What %(node)s sent to %(address)s was not delivered: %(said)s"),
        _("Check the address, the routes and the firewalls between the two nodes."),
        True,
        "no-route",
    ),
    "turned-away": Reason(
        _("What %(node)s sent to %(address)s was turned away: %(said)s"),
        _("Check that no firewall between the two nodes rejects such probes, and that the other node answers them."),
        True,
        "refused",
    ),
    "not-reached": Reason(
        _("The probes from %(node)s did not reach %(address)s; the last answer came from %(last)s."),
        _("Raise the number of hops, or let UDP probes and ICMP errors through the firewalls of the path."),
        True,
    ),
    "other-side": Reason(
        _("This is what the server on %(node)s printed; the measurement is told by its client."),
        _("Give the client's output instead."),
        False,
        "no-result",
    ),
    "out-of-range": Reason(
        _("What the program on %(node)s was to measure lies outside of what it can: %(said)s"),
        _("Measure this path with another tool, for example iperf3."),
        False,
    ),
    "output-cut": Reason(
        _("Not all of what the program on %(node)s printed has arrived, and what has gives no figure."),
        _(
            "Have it print less (longer intervals, fewer streams), or raise the output limit or the request size "
            "that a proxy before the service takes; the agent keeps what it had to cut in its folder “cut”."
        ),
        False,
    ),
    "permission": Reason(
        _("%(node)s may not do this: %(said)s"),
        _("Choose a method that needs no privilege, or give the agent's user the right."),
        False,
    ),
    "port-busy": Reason(
        _("The port on %(node)s is in use: %(said)s"),
        _("Stop the other server or choose another port."),
        True,
    ),
    "refused": Reason(
        _("%(address)s refused the connection from %(node)s."),
        _("Check that no firewall rejects the port, and that the server of the measurement started."),
        True,
    ),
    "stopped": Reason(
        _("The measurement broke off on %(node)s: %(said)s"),
        _LOOK_BESIDE,
        True,
    ),
    "timed-out": Reason(
        _("The program on %(node)s did not end within its time limit."),
        _("Look for packet loss or a firewall that drops silently; the partial output is kept."),
        True,
    ),
    "too-big": Reason(
        _("Packets of this size do not fit the path from %(node)s: its MTU is %(mtu)s bytes."),
        _("Use a smaller payload, allow fragments, or raise the MTU along the path."),
        False,
    ),
    "unknown-option": Reason(
        _("The program on %(node)s does not know the option %(option)s."),
        _("Install another version of the program on that node."),
        False,
    ),
    "unreadable": Reason(
        _("The output of the program on %(node)s cannot be read: it is damaged or of an unknown form."),
        _COMPARE,
        True,
    ),
    "contradictory": Reason(
        _("The output of the program on %(node)s contradicts itself: %(first)s against %(second)s."),
        _COMPARE,
        True,
        "unreadable",
    ),
    "too-many-values": Reason(
        _("A program printed more than %(most)s values as JSON, and so many are not read."),
        _("Have it print less: longer intervals, fewer streams, or a summary alone."),
        False,
    ),
    "too-many-values-together": Reason(
        _("The programs of the run printed more than %(most)s values as JSON together, and so many are not read."),
        _("Have them print less: longer intervals, fewer streams, or a summary alone."),
        False,
        "too-many-values",
    ),
    "too-coarse": Reason(
        _("The program on %(node)s printed %(rate)s, with too few digits to know the rate."),
        _("Leave out the option that asks for a unit (-f): then three digits are printed."),
        False,
        "unreadable",
    ),
    "not-own-address": Reason(
        _("%(node)s has no interface with the data-plane address given for it: %(said)s"),
        _("Correct the node's data-plane address: `ip address` on the node lists those it has."),
        False,
        "bad-host",
    ),
    "silent": Reason(_("The program on %(node)s printed nothing."), _READ_RAW, True, "no-result"),
    "not-run": Reason(_("No output of the role %(role)s has arrived."), _READ_RAW, True, "no-result"),
    "signalled": Reason(_("The program on %(node)s was ended by signal %(signal)s."), _LOOK_BESIDE, True, "stopped"),
    "ended-early": Reason(
        _("The measurement on %(node)s ended after %(seconds)s s of %(wanted)s s."), _LOOK_BESIDE, True, "stopped"
    ),
    "several-results": Reason(
        _("The output of the program on %(node)s holds %(n)s results; one is read at a time."),
        _("Give the outputs of single measurements: cut the file in parts."),
        False,
    ),
    "no-protocol": Reason(
        _("The output of the program on %(node)s does not tell of which protocol it is."),
        _("Give its command as well, or have it print the protocol (netperf: -k PROTOCOL,…)."),
        False,
        "unreadable",
    ),
    "reports-or-jobs": Reason(
        _(
            "The output of the program on %(node)s has %(n)s entries for “%(said)s”: whether they are jobs, or"
            " reports of one while it ran, cannot be told."
        ),
        _("Give its report as JSON, or the last report alone."),
        False,
        "several-results",
    ),
    "version-too-old": Reason(
        _("The program on %(node)s is too old: version %(minimum)s or later is needed here."),
        _("Install a newer version of the program on that node."),
        False,
    ),
    **custom.REASONS,
    **mpi.REASONS,
    **recognition.REASONS,
    **schedulers.REASONS,
    **storage.REASONS,
    **transfer.REASONS,
}


def failure(reason: str, output: Output | None = None, **params: object) -> ToolFailure:
    """Return the failure of a reason; `params` are the values of its message beside the node."""
    entry = FAILURES[reason]
    values = {name: _printable(value) for name, value in params.items()}
    message = Message(entry.message, {"node": output.node if output else "", **values})
    return ToolFailure(entry.code or reason, message, entry.retryable, Message(entry.remedy))


def _printable(value: object) -> object:
    """Return a text without the control characters and lone surrogates that damaged output holds."""
    if not isinstance(value, str):
        return value
    return "".join(character if character.isprintable() else " " for character in value)
