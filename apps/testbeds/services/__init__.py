"""Writes to the inventory."""

from apps.testbeds.services.bulk import add_nodes
from apps.testbeds.services.confirmations import (
    Confirmation,
    confirm_address,
    confirmation_of,
    confirmed,
    note_reports,
)
from apps.testbeds.services.grants import grant_setting, revoke_grant
from apps.testbeds.services.items import clone_item, create_item, delete_item, update_item
from apps.testbeds.services.parts import Address, MountPoint
from apps.testbeds.services.sets import Prepared, change_items, prepare_item, store_items

__all__ = [
    "Address",
    "Confirmation",
    "MountPoint",
    "Prepared",
    "add_nodes",
    "change_items",
    "clone_item",
    "confirm_address",
    "confirmation_of",
    "confirmed",
    "create_item",
    "delete_item",
    "grant_setting",
    "note_reports",
    "prepare_item",
    "revoke_grant",
    "store_items",
    "update_item",
]
