"""Findings are drawn from results, stored once, and what people decided of them is kept."""

from types import SimpleNamespace

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from apps.campaigns.models import Campaign
from apps.results.models import Result, Sample
from apps.testbeds.models import Node
from apps.tuning import evidence, records, services
from apps.tuning.models import Finding
from tests import rewriting


def by_rule(campaign: Campaign) -> dict[str, Finding]:
    return {finding.rule: finding for finding in campaign.findings.all()}


def test_a_sweep_gives_bdp_window_and_the_lines_to_paste(swept: Campaign) -> None:
    services.refresh_findings(campaign=swept)
    found = by_rule(swept)
    assert found["tcp-bdp"].value == pytest.approx(600_000, rel=0.02)
    assert found["tcp-window-knee"].value == 1048576
    assert "net.ipv4.tcp_rmem" in found["tcp-sysctl"].change
    assert "net.core.wmem_max" in found["tcp-sysctl"].change
    assert found["tcp-window-knee"].trials.count() > 0


def test_a_finding_rests_on_trials_of_its_own_campaign(swept: Campaign) -> None:
    services.refresh_findings(campaign=swept)
    for finding in swept.findings.all():
        assert set(finding.trials.values_list("campaign", flat=True)) <= {swept.pk}
        assert sorted(finding.details["evidence"]) == sorted(finding.trials.values_list("pk", flat=True))


def test_drawing_them_again_changes_nothing(swept: Campaign) -> None:
    first = {finding.pk for finding in services.refresh_findings(campaign=swept).findings}
    assert {finding.pk for finding in services.refresh_findings(campaign=swept).findings} == first


def test_without_the_rtt_there_is_no_bdp(swept: Campaign, pair: list[Node]) -> None:
    rewriting.delete(Sample.objects.filter(metric__in=["rtt_min", "rtt_mean", "min_rtt", "mean_rtt"]))
    pair[0].links_a.update(rtt_s=None)
    services.refresh_findings(campaign=swept)
    assert "tcp-bdp" not in by_rule(swept)


def test_invalid_results_are_no_evidence(swept: Campaign) -> None:
    flag = {"name": "x", "severity": "invalid", "message": {"msgid": "x", "params": {}}}
    rewriting.update(Result.objects, flags=[flag])
    assert evidence.by_ends(swept) == {}


def test_what_no_longer_follows_goes_unless_somebody_decided_on_it(swept: Campaign, cast: SimpleNamespace) -> None:
    services.refresh_findings(campaign=swept)
    knee = by_rule(swept)["tcp-window-knee"]
    services.decide_finding(finding=knee, user=cast.oscar, state=Finding.State.ACCEPTED)
    rewriting.delete(Sample.objects.all())
    services.refresh_findings(campaign=swept)
    assert list(by_rule(swept)) == ["tcp-window-knee"]


def test_a_decision_survives_drawing_them_again(swept: Campaign, cast: SimpleNamespace) -> None:
    services.refresh_findings(campaign=swept)
    knee = by_rule(swept)["tcp-window-knee"]
    services.decide_finding(finding=knee, user=cast.oscar, state=Finding.State.DISMISSED, reason=" known ")
    services.refresh_findings(campaign=swept)
    knee.refresh_from_db()
    assert (knee.state, knee.state_reason) == ("dismissed", "known")


def test_dismissing_needs_a_reason(swept: Campaign, cast: SimpleNamespace) -> None:
    services.refresh_findings(campaign=swept)
    with pytest.raises(services.FindingNeedsReason):
        services.decide_finding(finding=swept.findings.first(), user=cast.oscar, state=Finding.State.DISMISSED)


def test_viewers_and_strangers_decide_nothing(swept: Campaign, cast: SimpleNamespace) -> None:
    services.refresh_findings(campaign=swept)
    finding = swept.findings.first()
    with pytest.raises(PermissionDenied):
        services.decide_finding(finding=finding, user=cast.bob, state=Finding.State.ACCEPTED)
    with pytest.raises(Http404):
        services.decide_finding(finding=finding, user=cast.charlie, state=Finding.State.ACCEPTED)


@pytest.fixture
def slow(swept: Campaign) -> Campaign:
    """Return the sweep without the windows that fill the path: larger ones, and larger limits, are proposed."""
    rewriting.delete(Sample.objects.filter(trial__parameters__window__gte=524288))
    return swept


def proposed(campaign: Campaign) -> list[Finding]:
    return list(campaign.findings.filter(kind=Finding.Kind.RECOMMENDATION))


def test_what_is_proposed_for_one_path_is_one_finding_that_rests_on_all_of_it(slow: Campaign) -> None:
    services.refresh_findings(campaign=slow)
    (found,) = proposed(slow)
    parts = found.details["parts"]
    assert [part["rule"] for part in parts] == ["tcp-bdp"]
    assert found.change and found.undo
    assert sorted(found.trials.values_list("pk", flat=True)) == found.details["evidence"]
    assert not any(part["evidence"] for part in parts)


def test_programs_read_each_proposal_as_a_record_with_the_finding_it_is_part_of(slow: Campaign) -> None:
    services.refresh_findings(campaign=slow)
    told = {record["rule"]: record for record in records.of_findings(slow.findings.all())}
    (lead,) = proposed(slow)
    assert (told["tcp-sysctl"]["id"], told["tcp-sysctl"]["part_of"]) == (lead.pk, None)
    part = told["tcp-bdp"]
    assert (part["id"], part["part_of"], part["state"]) == (None, lead.pk, "new")
    assert part["value"] == pytest.approx(600_000, rel=0.02)
    assert part["evidence"] == told["tcp-sysctl"]["evidence"]


def test_a_proposal_that_was_dismissed_stands_by_itself_and_another_takes_its_place(
    slow: Campaign, cast: SimpleNamespace
) -> None:
    services.refresh_findings(campaign=slow)
    (lead,) = proposed(slow)
    services.decide_finding(finding=lead, user=cast.oscar, state=Finding.State.DISMISSED, reason="not root here")
    services.refresh_findings(campaign=slow)
    found = {finding.rule: finding for finding in proposed(slow)}
    assert found.keys() == {"tcp-sysctl", "tcp-bdp"}
    assert (found["tcp-sysctl"].state, found["tcp-sysctl"].details["parts"]) == ("dismissed", [])
    # Opened again, it leads again.
    services.decide_finding(finding=found["tcp-sysctl"], user=cast.oscar, state=Finding.State.NEW)
    services.refresh_findings(campaign=slow)
    assert [finding.rule for finding in proposed(slow)] == ["tcp-sysctl"]


def test_a_proposal_that_was_accepted_leads(slow: Campaign, cast: SimpleNamespace) -> None:
    services.refresh_findings(campaign=slow)
    (lead,) = proposed(slow)
    services.decide_finding(finding=lead, user=cast.oscar, state=Finding.State.DISMISSED, reason="not root here")
    services.refresh_findings(campaign=slow)
    other = slow.findings.get(rule="tcp-bdp")
    services.decide_finding(finding=other, user=cast.oscar, state=Finding.State.ACCEPTED)
    services.decide_finding(finding=lead, user=cast.oscar, state=Finding.State.NEW)
    services.refresh_findings(campaign=slow)
    (found,) = proposed(slow)
    assert (found.rule, found.state) == ("tcp-bdp", "accepted")
    assert [part["rule"] for part in found.details["parts"]] == ["tcp-sysctl"]
