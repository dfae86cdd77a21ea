"""Reads of the inventory."""

from apps.testbeds.queries.addresses import counting
from apps.testbeds.queries.dependents import dependents
from apps.testbeds.queries.grants import Wish, grants_for, grants_on, not_allowed
from apps.testbeds.queries.listings import (
    clusters,
    counts,
    file_systems,
    links,
    links_at,
    links_described,
    links_elsewhere,
    node_ids,
    nodes,
    site_pairs,
    sites,
    switches,
    testbeds,
)
from apps.testbeds.queries.mounts import directories, mounting, servers
from apps.testbeds.queries.paths import (
    Graph,
    Networks,
    graph,
    least_capacity_bps,
    path_between,
    paths_between,
    resources_of,
    switches_between,
)
from apps.testbeds.queries.reports import MOST_CLIENTS, Limit, PathReport, report_path

__all__ = [
    "MOST_CLIENTS",
    "Graph",
    "Limit",
    "Networks",
    "PathReport",
    "Wish",
    "clusters",
    "counting",
    "counts",
    "dependents",
    "directories",
    "file_systems",
    "grants_for",
    "grants_on",
    "graph",
    "least_capacity_bps",
    "links",
    "links_at",
    "links_described",
    "links_elsewhere",
    "mounting",
    "node_ids",
    "nodes",
    "not_allowed",
    "path_between",
    "paths_between",
    "report_path",
    "resources_of",
    "servers",
    "site_pairs",
    "sites",
    "switches",
    "switches_between",
    "testbeds",
]
