"""What the estimators of a path share that send from one program to another: pathrate and pathload."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import texts
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, NodeRef, Output, Plan, ToolRole
from apps.bench.tools import _pairs

ROLES = (ToolRole(_pairs.CLIENT, _("Receiver")), ToolRole(_pairs.SERVER, _("Sender")))

_READY = "Waiting for receiver to establish"
_SERVER = re.compile(rf"^{_READY} control stream", re.M)


def make_plan(
    name: str,
    nodes: Mapping[str, Sequence[NodeRef]],
    sender: str,
    receiver: Sequence[str],
    time_limit_s: float,
    *,
    ends_by_itself: bool = False,
    collect: tuple[str, ...] = (),
) -> Plan:
    """Return the plan of the sender, which waits, and the receiver, which is told its address last (-s)."""
    client, server = _pairs.players(nodes)
    _pairs.refuse_ipv6(name, client, server)
    measure = [*receiver, "-s", server.address]
    return _pairs.server_then_client(
        (sender,), measure, time_limit_s, _READY, ends_by_itself=ends_by_itself, collect=collect
    )


def receiver_of(outputs: Sequence[Output]) -> tuple[Output, str]:
    """Return the receiver's output and its text; ToolFailure for what the sender printed."""
    output = _pairs.client_output(outputs)
    text = texts.read_text(output)
    _pairs.refuse_server(output, text, _SERVER)
    return output, text


def coalescence() -> Flag:
    """Say that the receiver's interface blurs what is measured."""
    text = _("The receiver's interface collects packets before it interrupts, which blurs their spacing.")
    return Flag("interrupt-coalescence", "warning", Message(text))
