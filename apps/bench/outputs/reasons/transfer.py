"""Why files could not be transferred."""

from apps.bench.outputs.reasons import Reason
from apps.bench.text import _

REASONS: dict[str, Reason] = {
    "host-unresolvable": Reason(
        _("A GridFTP server cannot resolve the name or the address of its own machine, %(node)s tells: %(said)s"),
        _("Add the server's address and host name to that machine's hosts file, or to the DNS that it asks."),
        False,
        "bad-host",
    ),
    "credentials-needed": Reason(
        _("The GridFTP server that %(node)s asked wants a grid credential: %(said)s"),
        _("Use servers that allow anonymous access (ftp://), or give the agent's user a valid credential."),
        False,
        "permission",
    ),
    "silent-transfer": Reason(
        _("globus-url-copy on %(node)s printed nothing: it could not read one of the URLs (it ends with 0 then)."),
        _("Give both as URLs, such as ftp://node:2811/path and file:///path."),
        False,
        "no-result",
    ),
    "unreported-transfer": Reason(
        _("The transfer on %(node)s ended before its first report, and no server's log tells of it."),
        _("Transfer more bytes, or let the server write its transfer log (-Z)."),
        False,
        "no-result",
    ),
    "several-files": Reason(
        _("The client on %(node)s moved %(files)s files; how long all of them took only the server's log tells."),
        _("Read the measurement with the server's transfer log (-Z)."),
        False,
        "no-result",
    ),
    "incomplete-transfer": Reason(
        _("%(moved)s of %(wanted)s bytes were transferred from %(node)s."),
        _("Look at the servers' output: one of them ended, or the path between them broke."),
        True,
        "stopped",
    ),
    "transfer-broke": Reason(
        _("The transfer on %(node)s broke off: %(said)s"),
        _("Look at the servers' output. With restarts allowed it would have been taken up again."),
        True,
        "stopped",
    ),
}
