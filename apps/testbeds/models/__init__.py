"""The inventory."""

from apps.testbeds.models.grants import SettingGrant
from apps.testbeds.models.links import Link, SitePair, Switch
from apps.testbeds.models.machines import Cluster, Node, NodeAddress, Testbed
from apps.testbeds.models.sites import Site
from apps.testbeds.models.storage import FileSystem, Mount

__all__ = [
    "Cluster",
    "FileSystem",
    "Link",
    "Mount",
    "Node",
    "NodeAddress",
    "SettingGrant",
    "Site",
    "SitePair",
    "Switch",
    "Testbed",
]
