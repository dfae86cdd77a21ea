"""GridFTP third-party: a client on a node of its own commands servers on two others, or on two sets of data nodes."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.text import _
from apps.bench.toolkit import NodeRef, Params, Plan, ToolRole
from apps.bench.tools._gridftp import layout, options
from apps.bench.tools._gridftp.tool import DESTINATION_ROLE, SOURCE_ROLE, GridFtp


class GridFtpThirdParty(GridFtp):
    """GridFTP with the client on a third node."""

    slug = "gridftp-third-party"
    name = "GridFTP third-party"
    summary = _("Transfers between two servers, or two sets of data nodes, that a client elsewhere commands.")
    roles = (SOURCE_ROLE, DESTINATION_ROLE, ToolRole(options.CLIENT, _("Client")))
    signatures = (re.compile(r"^Source: (?:gsi)?ftp://\S*\s+Dest: +(?:gsi)?ftp://", re.M),)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return servers on both ends, and the client that commands them."""
        servers = (options.SOURCE, options.DESTINATION)
        ends = layout.make_ends(params, nodes, self.slug, servers)
        return layout.make_plan(params, ends, nodes[options.CLIENT][0], options.CLIENT)
