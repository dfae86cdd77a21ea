"""Layers and fits that rest on what only an archive says was measured say so, on their pages and over REST."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from apps.campaigns.models import Campaign
from apps.testbeds.models import Site
from tests import factories
from tests.tuning import published

WORDS = "measured, as an archive says"


def flags_in(answer: Any) -> Iterator[bool]:
    if isinstance(answer, dict):
        yield from ([answer["told_by_archive"]] if "told_by_archive" in answer else [])
    for part in answer.values() if isinstance(answer, dict) else answer if isinstance(answer, list) else ():
        yield from flags_in(part)


def addresses(cast: SimpleNamespace, case: str) -> tuple[str, str]:
    """Return the address of the page and that of REST, of what a published case has figures for."""
    published.load(cast.team, published.case(case))
    if case == "pdaisy-server-polarised":
        a, b = (Site.objects.get(team=cast.team, name=name).pk for name in ("KISTI", "PNU"))
        return f"/findings/sites/{a}/{b}/", f"/api/v1/site-layers/{a}/{b}/"
    wish = "pattern=write&file_size=4 GiB&nodes=9&tasks=1"
    return f"/findings/workload/?team={cast.team.pk}&{wish}", f"/api/v1/workload/?team={cast.team.slug}&{wish}"


@pytest.mark.parametrize("case", ["pdaisy-server-polarised", "write-grows-with-tasks"])
def test_rows_say_that_only_an_archive_tells_of_them(case: str, client: Client, cast: SimpleNamespace) -> None:
    page, rest = addresses(cast, case)
    client.force_login(cast.bob)
    assert WORDS not in client.get(page).content.decode()
    assert True not in set(flags_in(Client().get(rest, **factories.bearer(cast.bob)).json()))
    told = {"message": {"msgid": "Brought in.", "params": {}}, "agrees": False}
    Campaign.objects.update(origin=Campaign.Origin.MEASURED, brought_in=told)
    assert WORDS in client.get(page).content.decode()
    assert True in set(flags_in(Client().get(rest, **factories.bearer(cast.bob)).json()))
