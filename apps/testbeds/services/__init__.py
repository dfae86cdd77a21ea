"""Writes to the inventory."""

from apps.testbeds.services.bulk import add_nodes
from apps.testbeds.services.grants import grant_setting, revoke_grant
from apps.testbeds.services.items import clone_item, create_item, delete_item, update_item
from apps.testbeds.services.parts import Address, MountPoint

__all__ = [
    "Address",
    "MountPoint",
    "add_nodes",
    "clone_item",
    "create_item",
    "delete_item",
    "grant_setting",
    "revoke_grant",
    "update_item",
]
