"""What a campaign's definition says of its team's names is looked for anew only where names or definition changed."""

from types import SimpleNamespace
from typing import Any

import pytest

from apps.archive.landing.redaction import foreign
from apps.campaigns.models import Campaign
from apps.testbeds.models import Node
from tests.campaigns import factories as make

pytestmark = pytest.mark.django_db


def test_the_names_that_are_said_are_looked_for_anew_where_something_changed(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings: list[int] = []
    build = foreign.dictionary_of

    def counted(entries: Any) -> Any:
        readings.append(len(entries))
        return build(entries)

    monkeypatch.setattr(foreign, "dictionary_of", counted)
    campaign = make.launched(cast, *make.nodes(cast.team, "left", "right"))
    Campaign.objects.filter(pk=campaign.pk).update(goal="From zq1 to zq2")

    def said() -> set[str]:
        return {name.name for name in foreign.names_said(Campaign.objects.get(pk=campaign.pk))}

    assert "left" in said() and "left" in said() and len(readings) == 1
    Node.objects.filter(name="left").update(name="zq1")
    assert "zq1" in said() and "zq1" in said() and len(readings) == 2
    make.nodes(cast.team, "zq2", site="Elsewhere")
    assert {"zq1", "zq2"} <= said() and len(readings) == 3
    Campaign.objects.filter(pk=campaign.pk).update(goal="From here")
    assert "zq2" not in said() and len(readings) == 4
