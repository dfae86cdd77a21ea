"""GridFTP between two nodes, or two sets of data nodes: two-party, or third-party with the client on one end."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import texts
from apps.bench.text import _
from apps.bench.toolkit import NodeRef, Output, Parameter, Params, Plan, Value
from apps.bench.tools._gridftp import layout, options
from apps.bench.tools._gridftp.tool import DESTINATION_ROLE, SOURCE_ROLE, GridFtp

THIRD_PARTY, PUSH, PULL = "third-party", "push", "pull"
# The roles that run a server, and the one that runs the client.
_SERVERS = {
    THIRD_PARTY: (options.SOURCE, options.DESTINATION),
    PUSH: (options.DESTINATION,),
    PULL: (options.SOURCE,),
}
_CLIENT = {THIRD_PARTY: options.SOURCE, PUSH: options.SOURCE, PULL: options.DESTINATION}
_BETWEEN_SERVERS = re.compile(r"^Source: (?:gsi)?ftp://\S*\s+Dest: +(?:gsi)?ftp://", re.M)


class GridFtpBetweenTwo(GridFtp):
    """GridFTP with the client on one of the ends."""

    slug = "gridftp"
    name = "GridFTP"
    summary = _("Transfers of files or from memory to memory, with parallel streams and striping.")
    roles = (SOURCE_ROLE, DESTINATION_ROLE)
    parameters = (
        Parameter(
            "mode",
            "choice",
            _("Parties"),
            help=_("Third-party commands servers on both ends; two-party has a server on the far end only."),
            default=THIRD_PARTY,
            choices=(
                (THIRD_PARTY, _("third-party, commanded from the source")),
                (PUSH, _("two-party, sent by the source")),
                (PULL, _("two-party, fetched by the destination")),
            ),
        ),
        *options.PARAMETERS,
    )
    signatures = (
        re.compile(r"^(?:error: globus_|globus_(?:xio|ftp_client|common): )", re.M),
        re.compile(r"(?<!\d)\d{1,18} bytes +\d+\.\d\d MB/sec avg +\d+\.\d\d MB/sec inst"),
        re.compile(r"^Syntax : globus-url-copy ", re.M),
        re.compile(r"NL\.EVNT=FTP_INFO "),
        re.compile(r"^Source: \S+\nDest: +\S+$", re.M),
    )

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return servers where the mode needs them, and the client on one of the ends."""
        servers, role = _SERVERS[params["mode"]], _CLIENT[params["mode"]]
        ends = layout.make_ends(params, nodes, self.slug, servers)
        return layout.make_plan(params, ends, nodes[role][0], role)

    def recognises(self, output: Output) -> bool:
        """Return whether an output is of GridFTP, unless it is of a transfer between two servers."""
        return super().recognises(output) and not _BETWEEN_SERVERS.search(texts.read_text(output))

    def recover(self, output: Output) -> dict[str, Value]:
        """Return what an archived transfer tells, its parties included."""
        urls = [word for word in output.argv if "://" in word]
        parameters = super().recover(output)
        if len(urls) == 2 and urls[0].startswith("file:"):
            parameters["mode"] = PUSH
        if len(urls) == 2 and urls[1].startswith("file:"):
            parameters["mode"] = PULL
        return parameters
