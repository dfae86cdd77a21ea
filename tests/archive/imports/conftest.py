"""Uploads go to a folder of the test, and the nodes of the recordings are in the inventory."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from apps.testbeds.models import Node, NodeAddress
from tests.campaigns import factories as make
from tests.results.conftest import measured, pair

__all__ = ["ends", "folder", "measured", "pair"]


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    """Return the folder below which uploads are kept."""
    settings.VAR_DIR = tmp_path
    return tmp_path


@pytest.fixture
def ends(cast: SimpleNamespace) -> list[Node]:
    """Return the two nodes of the emulated link on which the outputs were recorded."""
    nodes = make.nodes(cast.team, "kisti01", "pnu01")
    for node, address in zip(nodes, ("10.9.0.1", "10.9.0.2"), strict=True):
        NodeAddress.objects.filter(node=node).update(address=address)
    make.link(*nodes, "WAN")
    return nodes
