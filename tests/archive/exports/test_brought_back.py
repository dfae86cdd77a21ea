"""A deleted campaign that comes back is shown to those who saw it, and its file to nobody else meanwhile."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from apps.archive.campaigns.writer import archive_of
from apps.archive.incoming import services
from apps.archive.models import IncomingArchive
from apps.campaigns import queries
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign
from tests.campaigns import factories as make
from tests.factories import signed_in

V = Campaign.Visibility
TEAM = {"alice", "oscar", "bob"}


def carry_out() -> None:
    while services.carry_out_next(now=timezone.now()):
        pass


def readers_of(cast: SimpleNamespace, incoming: IncomingArchive) -> set[str]:
    """Return to whom the list of archives names a file."""
    people = (cast.alice, cast.oscar, cast.bob, cast.charlie)
    pages = {user.username: signed_in(user).get("/api/v1/campaign-archives/") for user in people}
    return {name for name, page in pages.items() if incoming.name in page.content.decode()}


@pytest.mark.parametrize(
    ("visibility", "redacted", "seen"),
    [
        (V.PRIVATE, True, {"oscar"}),
        (V.TEAM, True, TEAM),
        (V.SHARED, True, {*TEAM, "charlie"}),
        (V.PUBLIC, False, {*TEAM, "charlie"}),
    ],
)
def test_what_comes_back_is_shown_as_it_was(
    cast: SimpleNamespace,
    finished: Campaign,
    settings: Any,
    tmp_path: Path,
    visibility: str,
    redacted: bool,
    seen: set[str],
) -> None:
    settings.VAR_DIR = tmp_path
    if visibility == V.SHARED:
        make.share(finished, cast.other_team)
    Campaign.objects.filter(pk=finished.pk).update(visibility=visibility, redacted=redacted)
    finished.refresh_from_db()
    data = b"".join(archive_of(finished, now=timezone.now()))
    campaigns.delete_campaign(campaign=finished, user=cast.oscar, now=timezone.now())
    sent = services.take(team=cast.team, user=cast.oscar, file=SimpleUploadedFile("zqsecret.zip", data))
    # Nobody has looked yet whose it is.
    assert readers_of(cast, sent) == {"oscar"}
    carry_out()
    assert readers_of(cast, sent) == seen & TEAM
    services.agree(incoming=sent, user=cast.oscar, choices={})
    carry_out()
    back = Campaign.objects.get()
    assert (back.visibility, back.redacted) == (visibility, redacted)
    everybody = (cast.alice, cast.oscar, cast.bob, cast.charlie)
    assert {user.username for user in everybody if queries.sees_whole(back, user)} == seen
    assert readers_of(cast, sent) == seen & TEAM
