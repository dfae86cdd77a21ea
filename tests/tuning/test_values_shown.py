"""A finding's value of 0 is no quantity where 0 leaves a parameter to the system: it is shown by its name."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.bench import tools
from apps.bench.toolkit import Parameter
from apps.campaigns.models import Campaign
from apps.core.messages import render
from apps.tuning import queries, services
from apps.tuning.models import Finding
from tests.rotation import part_of

ZEROS = [
    (tool.slug, parameter)
    for tool in tools.all_tools()
    for parameter in tool.parameters
    if parameter.zero and not parameter.required
]


def finding_of(cast: SimpleNamespace, tool: str, value: float | None, unit: str, **then: object) -> Finding:
    proof = {"tool": tool, "metric": "goodput", "now": {}, "then": then}
    return Finding(team=cast.team, value=value, unit=unit, details={"proof": proof})


@pytest.mark.parametrize(("tool", "parameter"), part_of(ZEROS), ids=lambda value: str(getattr(value, "name", value)))
def test_nought_is_shown_by_its_name(tool: str, parameter: Parameter, cast: SimpleNamespace) -> None:
    found = finding_of(cast, tool, 0.0, parameter.unit, **{parameter.name: 0})
    named = {render(own.zero) for slug, own in ZEROS if slug == tool and own.unit == parameter.unit}
    assert queries.value_text(found) in named
    assert queries.value_text(finding_of(cast, tool, 0.0, "s", window=1)) == "0 s"


def test_what_is_a_quantity_is_shown_as_one(cast: SimpleNamespace) -> None:
    assert queries.value_text(finding_of(cast, "iperf3-tcp", 65536.0, "B", window=65536)) == "64 KiB"
    assert queries.value_text(finding_of(cast, "iperf3-tcp", None, "", window=0)) == "–"
    assert queries.value_text(finding_of(cast, "no-such-tool", 0.0, "B", window=0)) == "0 B"
    assert queries.value_text(Finding(team=cast.team, value=0.0, unit="%", details={})) == "0 %"


def test_the_list_says_autotuned(client: Client, swept: Campaign, cast: SimpleNamespace) -> None:
    services.refresh_findings(campaign=swept)
    finding = swept.findings.get(rule="tcp-sysctl")
    finding.value, finding.unit = 0.0, "B"
    finding.details["proof"] = {
        "tool": "iperf3-tcp",
        "metric": "goodput",
        "now": {"window": 65536},
        "then": {"window": 0},
    }
    finding.save()
    client.force_login(cast.bob)
    page = client.get(reverse("tuning:list")).content.decode()
    assert '<td class="text-end">autotuned</td>' in page


def test_flags_of_other_metrics_do_not_stand_beside_a_finding(swept: Campaign) -> None:
    services.refresh_findings(campaign=swept)
    for finding in swept.findings.filter(rule__startswith="tcp-"):
        assert queries.metrics_of(finding), finding.rule
