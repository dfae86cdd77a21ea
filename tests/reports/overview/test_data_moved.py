"""Data moved is the sum of all that tools told; where some did not tell it is at least so much."""

from types import SimpleNamespace

import pytest

from apps.bench import tools
from apps.campaigns import services
from apps.campaigns.models import Campaign
from tests.campaigns import factories as make
from tests.reports.overview.conftest import NOW, WEEK, carried_out
from tests.reports.overview.test_document import lines, report, tables
from tests.results.factories import measure


@pytest.mark.parametrize(
    ("tool", "told", "factor", "is_all"),
    [
        ("gridftp", {"throughput": 1e8, "transferred": 2.0**27}, 2.0**27, True),
        ("iperf3-tcp", {"goodput": 1e8, "goodput_reverse": 3e8}, 10 * 4e8 / 8, True),
        ("ping", {"rtt_mean": 0.005}, 0.0, False),
    ],
)
def test_data_moved_is_all_that_tools_told_or_at_least_that(
    quarter: SimpleNamespace, tool: str, told: dict[str, float], factor: float, is_all: bool
) -> None:
    before = _moved(quarter)
    draft = make.campaign(quarter.cast, name=tool)
    ends = zip(tools.get(tool).roles, (quarter.a, quarter.b), strict=True)
    services.create_experiment(
        campaign=draft,
        user=quarter.cast.oscar,
        roles=make.players(**{role.name: node for role, node in ends}),
        name=tool,
        tool=tool,
        fixed={"direction": "both", "duration": "10 s"} if tool == "iperf3-tcp" else {},
        factors=[],
        repetitions=3,
        order="as-given",
        retry_wait_s=5,
        context=False,
    )
    campaign = services.launch_campaign(campaign=draft, user=quarter.cast.oscar, now=NOW - WEEK)
    Campaign.objects.filter(pk=campaign.pk).update(launched_at=NOW - WEEK)
    for trial in campaign.trials.all():
        measure(trial, **told)
        carried_out(trial, "succeeded", NOW - WEEK)
    after = _moved(quarter)
    assert after.bytes == pytest.approx(before.bytes + 3 * factor)
    assert (before.text.startswith("at least"), after.text.startswith("at least")) == (False, not is_all)


def _moved(quarter: SimpleNamespace) -> SimpleNamespace:
    document = report(quarter)
    [text] = [row["Value"] for row in lines(tables(document)["key-figures"]) if row["What"] == "Data moved"]
    table = tables(document)["tools"]
    scale = {"MiB": 2**20, "GiB": 2**30}[table.columns[-1].unit]
    return SimpleNamespace(text=text, bytes=scale * sum(row["Data moved"] or 0 for row in lines(table)))
