"""What is not known of a change is said to be so: no version and no word of an agent tell that nothing changed."""

from types import SimpleNamespace

import pytest
from django.test import Client

from apps.agents.models import FactSnapshot
from apps.campaigns.models import Campaign
from apps.results.models import Result
from apps.testbeds.models import Node
from tests import rewriting
from tests.comparison.history.conftest import START, WEEK
from tests.comparison.history.test_history_pages import newest, pages

NEITHER = "Neither the tool"


@pytest.mark.parametrize("told", [(), ("kisti01",), ("kisti01", "pnu01")])
@pytest.mark.parametrize("version", ["", "3.17", None])
def test_nothing_changed_is_said_of_what_is_known_alone(
    client: Client,
    repeated: list[Campaign],
    cast: SimpleNamespace,
    pair: list[Node],
    version: str | None,
    told: tuple[str, ...],
) -> None:
    """None leaves the versions as they are: 3.12 before the change, 3.17 since."""
    if version is not None:
        rewriting.update(Result.objects.all(), tool_version=version)
    for node in pair:
        if node.name in told:
            snapshot = FactSnapshot.objects.create(node=node, digest="same", facts={"interfaces": []})
            FactSnapshot.objects.filter(pk=snapshot.pk).update(created_at=START - WEEK)
    client.force_login(cast.bob)
    page = client.get(pages(newest(repeated))[0]).content.decode()
    untold = [node.name for node in pair if node.name not in told]
    assert ("whether the tool&#x27;s version changed" in page or "whether the tool's version changed" in page) == (
        version == ""
    )
    assert ("whether " + ", ".join(sorted(untold)) + " changed then" in page) == bool(untold)
    assert (NEITHER in page) == (version == "3.17" and not untold)
    lane = newest(repeated).pk
    (change,) = client.get(f"/api/v1/histories/{lane}/").json()["changes"]
    assert (change["is_version_known"], change["untold"]) == (version != "", sorted(untold))
