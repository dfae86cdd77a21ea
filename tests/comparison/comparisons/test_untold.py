"""Settings that nobody told of imports are no difference between them, and nothing is put down to anything."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.bench.comparison import RemarkLevel
from apps.campaigns.models import Campaign
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import compare
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.presentation import importance, page, tables
from apps.comparison.comparisons.state import read_text
from apps.testbeds.models import Node
from tests.archive.imports import sending
from tests.archive.imports.conftest import folder

__all__ = ["folder"]

LABEL = "Unknown as in"
COLUMNS = {"rate (Mbit/s)": {"as": "metric", "name": "goodput"}, "streams": {"as": "parameter", "name": "streams"}}


@pytest.fixture
def imported(cast: SimpleNamespace, pair: list[Node]):
    def made(rate: int, streams: int = 1, **values: bool) -> Campaign:
        rows = "".join(f"{streams},{rate + number}\n" for number in range(4))
        sent = sending.send(cast, {"a.csv": f"streams,rate (Mbit/s)\n{rows}".encode()}, kind="table")
        sending.services.map_columns(imported=sent, tool="iperf3-tcp", mapping=COLUMNS)
        sent = sending.advance(sent)
        sending.choose(sent, {"client": [pair[0].pk], "server": [pair[1].pk]}, **values)
        return sending.store(sent).campaign

    return made


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("streams", [1, 4])
def test_what_is_not_known_is_no_cause(cast: SimpleNamespace, imported, streams: int, *, alike: bool) -> None:
    one, other = imported(500, alike=alike), imported(900, streams, alike=alike)
    state, _errors = read_text(f"set=campaign:{one.pk}&set=campaign:{other.pk}&x=set")
    comparison = compare(gather(choose(state, cast.oscar)))
    assert LABEL not in {item.name for item in comparison.deviations}
    remarks = [(remark.level, remark.message.msgid) for remark in comparison.remarks]
    assert not any("can be put down to it" in text or "Nothing that was recorded" in text for _level, text in remarks)
    assert any(level is RemarkLevel.CAUTION and "are not known" in text for level, text in remarks)
    axes = page.axes_of(comparison)
    assert LABEL not in {factor.label for factor in axes} and "unknown_as_in" not in {factor.name for factor in axes}
    shares, _remarks = importance.explained(comparison)
    assert not any("unknown_as_in" in share.factors for _title, found in shares for share in found.shares)


def test_where_it_was_said_to_be_alike_a_told_setting_is_the_cause(cast: SimpleNamespace, imported) -> None:
    """Sets of one import whose rows were the same in all that is not known differ in what was set."""
    campaign = imported(500, alike=True)
    state, _errors = read_text(f"set=campaign:{campaign.pk}&set=campaign:{campaign.pk}&x=set")
    assert not any(
        "are not known" in remark.message.msgid for remark in compare(gather(choose(state, cast.oscar))).remarks
    )


def test_of_tables_only_what_they_tell_is_said_not_to_differ(cast: SimpleNamespace, imported, client: Client) -> None:
    one, other = imported(500, alike=True), imported(501, alike=True)
    query = f"set=campaign:{one.pk}&set=campaign:{other.pk}&x=set"
    environments = compare(gather(choose(read_text(query)[0], cast.oscar))).gathering.environments
    assert environments.recorded == ("parameters",)
    assert environments.unrecorded == ("kernel", "kernel settings", "interfaces", "versions", "routes")
    client.force_login(cast.oscar)
    text = client.get(f"{reverse('comparison:compare')}?{query}&metric=goodput").content.decode()
    assert "Not known of all sets: kernel, kernel settings, interfaces, versions, routes." in text
    assert not any(f"differs: {words}" in text for words in ("neither", "parameters, "))
    rest = client.get(f"/api/v1/comparison/?{query}&metric=goodput").json()
    assert (rest["recorded"], rest["unrecorded"]) == ([*environments.recorded], [*environments.unrecorded])


@pytest.mark.parametrize("ratios", [[], [0.9], [0.712, 0.713], [0.5, 1.0, 2.0]])
def test_ratios_of_places_are_no_interval(ratios: list[float]) -> None:
    told = tables._ratios_text(ratios)
    assert "–" not in told and ("places" in told) is (len(ratios) > 1)
