"""An archive for which its team has no room is refused with the reason, and stored once there is."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from apps.archive.models import IncomingArchive
from apps.campaigns.models import Campaign
from apps.core.models import SetAside
from tests import limits, rewriting
from tests.archive.exports.conftest import whole
from tests.archive.exports.test_incoming import carry_out, kept, sent

__all__ = ["kept"]


def agree(client: Client, incoming: IncomingArchive) -> None:
    """Have it stored."""
    incoming.refresh_from_db()
    assert client.post(incoming.get_absolute_url(), {"node-0": ""}).status_code == 302
    carry_out()


@pytest.mark.parametrize("name", ["CAMPAIGNS_PER_TEAM", "NODES_PER_TEAM", "NOTES_PER_CAMPAIGN"])
def test_an_archive_is_refused_for_what_it_would_bring(
    name: str, client: Client, cast: SimpleNamespace, finished: Campaign, settings: Any
) -> None:
    finished.notes.create(text="Quiet.", created_by=cast.oscar)
    client.force_login(cast.alice)
    data = whole(client.get(f"/exports/campaigns/{finished.pk}/archive.zip"))
    rewriting.delete(finished)
    client.force_login(cast.charlie)
    limits.bound(settings, -1, name)
    incoming = sent(client, data, team=cast.other_team.pk)
    carry_out()
    incoming.refresh_from_db()
    if incoming.state == "ready":
        agree(client, incoming)
    incoming.refresh_from_db()
    assert incoming.state == "refused", incoming.reason
    assert f"({name})" in client.get(incoming.get_absolute_url()).content.decode()
    assert not Campaign.objects.exists()
    assert not SetAside.objects.exists()
    limits.bound(settings, 1000, name)
    again = incoming if incoming.preview else sent(client, data, team=cast.other_team.pk)
    carry_out()
    agree(client, again)
    assert Campaign.objects.get().team == cast.other_team
