"""What a site measured on the file system of another is told as that, and not as a figure within a site."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.reports import overview
from apps.reports.document import Document, Section, Table
from apps.testbeds.models import FileSystem
from tests.campaigns import factories as make
from tests.reports import whole
from tests.reports.overview.conftest import WHOLE
from tests.testbeds import factories as inventory


def sections_of(document: Document) -> dict[str, Section]:
    standings = next(section for section in document.sections if section.key == "standings")
    return {section.key: section for section in standings.sections}


@pytest.mark.parametrize(("served_at", "key"), [("", "within"), ("here", "within"), ("Busan", "elsewhere")])
def test_a_file_system_is_within_the_site_that_serves_it(cast: SimpleNamespace, served_at: str, key: str) -> None:
    campaign = whole.campaign(cast)
    system = FileSystem.objects.get(name="Whole GPFS")
    own = campaign.experiments.get(tool="iozone").roles.get().node
    if served_at:
        server = own if served_at == "here" else make.nodes(cast.team, "pnu-nfs", site="Busan")[0]
        system.server_cluster = inventory.cluster(cast.team, "servers", server)
        system.save()
    now = timezone.now()
    document = overview.build(team=cast.team, selection=replace(WHOLE, last=now.date()), language="en", now=now)
    sections = sections_of(document)
    other = {"within": "elsewhere", "elsewhere": "within"}[key]
    assert f"{other}-iozone" not in sections
    [table] = [block for block in sections[f"{key}-iozone"].blocks if isinstance(block, Table)]
    site = own.testbed.site.name
    assert [row[:2] for row in table.rows] == [[site, "Whole GPFS (Busan)" if key == "elsewhere" else "Whole GPFS"]]
    assert ("within sites" in table.caption) == (key == "within")
