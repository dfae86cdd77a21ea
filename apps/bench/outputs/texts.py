"""Finding and reading the outputs of commands, whatever they hold."""

import ipaddress
import re
import string
from collections.abc import Sequence

from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import NodeRef, Output, ParameterError, ToolFailure

# Words of the C library that all tools repeat, in small letters, and the code of the failure.
SYSTEM_ERRORS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("network is unreachable", "no route to host", "host is unreachable", "network is down"), "no-route"),
    (("connection refused",), "refused"),
    (("address already in use",), "port-busy"),
    (("cannot assign requested address",), "not-own-address"),
    (
        ("name or service not known", "failure in name resolution", "not in name resolution", "unknown host"),
        "bad-host",
    ),
    (("no address associated with hostname", "address family for hostname"), "bad-host"),
    (("operation not permitted", "permission denied", "not have enough privileges", "cannot flood"), "permission"),
    (("connection timed out", "operation now in progress"), "no-reply"),
)

# SIGILL, SIGABRT, SIGBUS, SIGFPE and SIGSEGV (signal(7)): nobody sends them, the program itself broke.
CRASHES = frozenset((4, 6, 7, 8, 11))

_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
# What ICMP says of a firewall or a closed port (RFC 792, 1812), in words or as traceroute and tracepath mark it.
_TURNED_AWAY = re.compile(r"[Pp]ort [Uu]nreachable|[Pp]rohibit|[Ff]iltered|![XVC](?:\s|$)|!A(?:\s|$)|!<1[03]>")
_WORD = re.compile(r"[^\W_]")
_BAD_OPTION = re.compile(r"(?:unrecognized|invalid|bad|unknown) option:?\s*(?:-- )?[`'\"]?(?P<option>[-\w]+)", re.I)


def find_output(outputs: Sequence[Output], role: str) -> Output:
    """Return the last output of a role; a ToolFailure says that there is none."""
    for output in reversed(outputs):
        if output.role == role:
            return output
    raise failure("not-run", None, role=role)


def read_text(output: Output) -> str:
    """Return all that a command printed, stdout first; bytes that are no UTF-8 become the replacement sign."""
    return output.stdout.decode("utf-8", "replace") + "\n" + output.stderr.decode("utf-8", "replace")


def refuse_cut_short(output: Output) -> None:
    """Raise the failure of a command that was stopped: what it printed until then is not a result."""
    if output.timed_out:
        raise failure("timed-out", output)
    if output.signal is not None:
        raise failure("signalled", output, signal=output.signal)


def bad_option(output: Output, text: str) -> ToolFailure | None:
    """Return the failure of a program that does not know an option of its argv, if `text` tells of it."""
    match = _BAD_OPTION.search(text) if " option" in text.lower() else None
    return failure("unknown-option", output, option=match["option"]) if match else None


def system_error(output: Output, text: str, address: str) -> ToolFailure | None:
    """Return the failure that words of the C library in `text` tell of, if any."""
    small = _small(text)
    for phrases, code in SYSTEM_ERRORS:
        places = [place for phrase in phrases if (place := small.find(phrase)) >= 0]
        if places:
            return failure(code, output, address=address, said=_line_around(text, min(places)))
    return None


def undelivered(output: Output, address: str, said: str) -> ToolFailure:
    """Return the failure of probes that a node on the way sent back, in its words: a refusal is no missing route."""
    code = "turned-away" if _TURNED_AWAY.search(said) else "undelivered"
    return failure(code, output, address=address, said=said)


def no_result(output: Output, text: str) -> ToolFailure:
    """Return the failure of a program that ended without a result, with the first words it said (no mere rule)."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    words = next((line for line in lines if _WORD.search(line)), lines[0] if lines else "")[:200]
    return failure("no-result", output, said=words) if words else failure("silent", output)


def target_of(server: NodeRef, client: NodeRef) -> str:
    """Return the server's address as the client must write it: a link-local scope is the client's own interface."""
    address, _percent, scope = server.address.partition("%")
    own_scope = client.address.partition("%")[2]
    return f"{address}%{own_scope}" if scope and own_scope else server.address


def refuse_mixed_families(server: NodeRef, client: NodeRef) -> None:
    """Raise ParameterError if one address is IPv4 and the other IPv6; names are left to the resolver."""
    versions = {_version(server.address), _version(client.address)} - {None}
    if len(versions) > 1:
        raise ParameterError(
            {
                "client": Message(
                    _("%(client)s and %(server)s are not of one IP version: choose addresses of the same."),
                    {"client": client.address, "server": server.address},
                )
            }
        )


def named_target(output: Output, text: str, header: re.Pattern[str]) -> str:
    """Return the address probed: the argv's last word, or the header's first group where no argv is known."""
    if len(output.argv) > 1:
        return output.argv[-1]
    match = header.search(text)
    return match[1] if match else "-"


def is_address(text: str) -> bool:
    """Return whether a text is an IP address (and not a name)."""
    return _version(text) is not None


def _small(text: str) -> str:
    """Return a text in small letters, each in its place: patterns that pass over case take many times as long."""
    small = text.lower()
    # Of some capital letters two signs become: there only those of the alphabet are small.
    return small if len(small) == len(text) else text.translate(_SMALL)


def _version(address: str) -> int | None:
    try:
        return ipaddress.ip_address(address).version
    except ValueError:
        return None


def _line_around(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start : end if end >= 0 else None].strip()[:200]
