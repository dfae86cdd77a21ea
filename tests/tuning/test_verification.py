"""A finding is put to the test by a real campaign that measures both settings in turn until the interval decides."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404
from django.utils import timezone

from apps.bench.rules.base import Proof
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Trial
from apps.testbeds import services as inventory
from apps.testbeds.models import Node
from apps.tuning import contrasts, queries, services
from apps.tuning.models import Decision, Finding, Verification
from tests import rewriting
from tests.campaigns import factories as make
from tests.tuning.carrying import NOW, THEN, carry_out, draft, rates, store, verify

RMEM = "setting.server.net.ipv4.tcp_rmem"


@pytest.fixture
def finding(swept: Campaign, pair: list[Node]) -> Finding:
    """Return the finding that a larger window gives seven times the rate; the nodes have nothing else to do."""
    Trial.objects.update(state="succeeded")
    campaigns.finish_campaign(campaign_id=swept.pk, now=timezone.now())
    return store(swept, pair, draft())


def proof(now: dict[str, Any], then: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"proof": Proof("iperf3-tcp", "goodput", now, then, **values)}


def refused(finding: Finding, user: Any) -> str:
    with pytest.raises(ValidationError) as error:
        verify(finding, user)
    return " ".join(error.value.messages)


def test_it_makes_and_launches_the_smallest_a_b_campaign(finding: Finding, cast: SimpleNamespace) -> None:
    made = verify(finding, cast.oscar)
    assert made.campaign
    experiment = made.campaign.experiments.get()
    assert experiment.factors == [{"name": "window", "expression": "64KiB, 1MiB"}]
    assert (experiment.zips, experiment.order) == ([], "randomised")
    assert experiment.fixed == {"duration": "2s"}
    assert [made.campaign.state, made.campaign.trials.count()] == ["running", 6]
    parameters = list(made.campaign.trials.order_by("point").values_list("point", "parameters__window").distinct())
    assert parameters == [(0, NOW), (1, THEN)]
    lane, measured = experiment.lanes.get(), finding.trials.filter(experiment__tool="iperf3-tcp").first()
    assert measured
    assert lane.roles == measured.lane.roles


def test_a_gain_as_predicted_is_verified_after_three_blocks(finding: Finding, cast: SimpleNamespace) -> None:
    made = verify(finding, cast.oscar)
    assert carry_out(made.campaign, rates(141e6, 985e6, noise=0.01)) == 6
    made.refresh_from_db()
    finding.refresh_from_db()
    assert (made.verdict, finding.state, made.pairs) == ("verified", "verified", 3)
    assert made.gain == pytest.approx(985 / 141, rel=0.02)
    assert made.gain_low < made.gain < made.gain_high
    assert made.predicted_gain == pytest.approx(7.0)
    assert made.realised / made.present == pytest.approx(made.gain)
    assert made.agrees
    (line,) = finding.decisions.all()
    assert (line.user, line.earlier, line.state, line.verification) == (None, "new", "verified", made)
    assert line.note["params"] == {"pairs": 3, "gain": "6.94", "low": "6.25", "high": "7.71"}


def test_no_gain_refutes_it(finding: Finding, cast: SimpleNamespace) -> None:
    made = verify(finding, cast.oscar)
    assert carry_out(made.campaign, rates(141e6, 144e6, noise=0.01)) == 6
    made.refresh_from_db()
    finding.refresh_from_db()
    assert (made.verdict, finding.state, made.agrees) == ("refuted", "refuted", False)


def test_what_scatters_is_repeated_and_may_stay_undecided(finding: Finding, cast: SimpleNamespace) -> None:
    made = verify(finding, cast.oscar)
    # About the line between nothing and the prediction, 2.6.
    assert carry_out(made.campaign, rates(100e6, 260e6, noise=0.3)) == 40
    made.refresh_from_db()
    finding.refresh_from_db()
    assert (made.verdict, finding.state, made.pairs) == ("undecided", "new", 20)
    assert not finding.decisions.exists()
    # Each block held both settings, now this one first and now that.
    turns = list(made.campaign.trials.order_by("position").values_list("repetition", "point"))
    blocks = [turns[start : start + 2] for start in range(0, len(turns), 2)]
    assert [{point for _block, point in block} for block in blocks] == [{0, 1}] * 20
    assert [block[0][0] for block in blocks] == list(range(1, 21))
    assert {block[0][1] for block in blocks} == {0, 1}


def test_failures_are_made_up_for(finding: Finding, cast: SimpleNamespace) -> None:
    made = verify(finding, cast.oscar)
    sound = rates(140e6, 980e6, noise=0.01)
    done = carry_out(made.campaign, lambda trial: None if (trial.repetition, trial.point) == (2, 0) else sound(trial))
    made.refresh_from_db()
    assert (done, made.pairs, made.verdict) == (8, 3, "verified")


def test_a_time_that_falls_as_predicted_is_verified(
    swept: Campaign, pair: list[Node], finding: Finding, cast: SimpleNamespace
) -> None:
    said = draft(
        rule="tcp-delay", present=0.012, predicted=0.006, predicted_unit="s",
        proof=Proof("iperf3-tcp", "mean_rtt", {"window": NOW}, {"window": THEN}),
    )  # fmt: skip
    made = verify(store(swept, pair, said), cast.oscar)
    carry_out(made.campaign, rates(0.0121, 0.0062, noise=0.01), "mean_rtt")
    made.refresh_from_db()
    assert (made.verdict, made.higher_is_better) == ("verified", False)


def test_nothing_is_predicted_after_it_was_measured(
    swept: Campaign, pair: list[Node], finding: Finding, cast: SimpleNamespace
) -> None:
    made = verify(store(swept, pair, draft(rule="alone", present=None)), cast.oscar)
    carry_out(made.campaign, rates(100e6, 950e6, noise=0.01))
    made.refresh_from_db()
    assert (made.predicted, made.predicted_gain) == (980e6, None)
    # Without a predicted gain one of 5 % is the line.
    assert made.verdict == "verified"


def test_several_parameters_that_differ_are_zipped(
    swept: Campaign, pair: list[Node], finding: Finding, cast: SimpleNamespace
) -> None:
    said = draft(rule="both", **proof({"window": NOW, "streams": 1}, {"window": THEN, "streams": 4.0}))
    made = verify(store(swept, pair, said), cast.oscar)
    experiment = made.campaign.experiments.get()
    assert {factor["name"]: factor["expression"] for factor in experiment.factors} == {
        "window": "64KiB, 1MiB",
        "streams": "1, 4",
    }
    assert made.campaign.trials.count() == 6


def test_a_kernel_setting_needs_the_nodes_grant(
    swept: Campaign, pair: list[Node], finding: Finding, cast: SimpleNamespace
) -> None:
    said = draft(rule="sysctl", **proof({RMEM: "4096 131072 174760"}, {RMEM: "4096 131072  8388608"}))
    kept = store(swept, pair, said)
    missing = contrasts.missing_grants(contrasts.contrast_of(kept))
    assert {node.name for node, _message in missing} == {"pnu01"}
    assert "ask a manager" in refused(kept, cast.oscar)
    assert not Verification.objects.exists()
    inventory.grant_setting(node=pair[1], user=cast.alice, pattern="net.ipv4.tcp_*", values=())
    assert not contrasts.missing_grants(contrasts.contrast_of(kept))
    made = verify(kept, cast.oscar)
    assert set(made.campaign.trials.values_list(f"parameters__{RMEM}", flat=True)) == {
        "4096 131072 174760",
        "4096 131072 8388608",
    }


@pytest.mark.parametrize("now", [{}, {RMEM: ""}])
def test_a_setting_that_only_one_side_names_is_left_alone_on_the_other(
    swept: Campaign, pair: list[Node], finding: Finding, cast: SimpleNamespace, now: dict[str, str]
) -> None:
    inventory.grant_setting(node=pair[1], user=cast.alice, pattern="net.ipv4.tcp_*", values=())
    made = verify(store(swept, pair, draft(rule="one", **proof(now, {RMEM: "4096 131072 8388608"}))), cast.oscar)
    found = {trial.point: trial.parameters.get(RMEM) for trial in made.campaign.trials.all()}
    assert found == {0: None, 1: "4096 131072 8388608"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"proof": None}, "does not say what would prove"),
        (proof({"window": NOW}, {"window": NOW}), "Nothing would change"),
        (proof({"windows": 1}, {"windows": 2}), "no parameter “windows”"),
        (proof({"window": NOW}, {"window": -1}), "oo small"),
        ({"proof": Proof("iperf4", "goodput", {}, {})}, "no tool “iperf4”"),
        ({"proof": Proof("iperf3-tcp", "happiness", {}, {})}, "happiness"),
        (proof({}, {"window": THEN}, file_system="/nowhere"), "not in the inventory"),
    ],
)
def test_what_can_not_be_proved_says_why(
    swept: Campaign, pair: list[Node], finding: Finding, cast: SimpleNamespace, changes: dict[str, Any], words: str
) -> None:
    assert words in refused(store(swept, pair, draft(rule="odd", **changes)), cast.oscar)
    assert not Verification.objects.exists()
    assert Campaign.objects.count() == 1


def test_published_figures_can_not_be_measured_again(finding: Finding, cast: SimpleNamespace) -> None:
    Campaign.objects.update(origin="published")
    finding.refresh_from_db()
    finding.campaign.refresh_from_db()
    assert not finding.can_be_verified
    assert "published" in refused(finding, cast.oscar)


def test_nodes_that_left_the_inventory_are_not_guessed(finding: Finding, cast: SimpleNamespace) -> None:
    (stranger,) = make.nodes(cast.other_team, "elsewhere")
    for trial in finding.trials.select_related("lane"):
        trial.lane.roles = {"client": [stranger.pk], "server": trial.lane.roles["server"]}
        with rewriting.allowed():
            trial.lane.save()
    assert "left the inventory" in refused(finding, cast.oscar)


def test_one_verification_at_a_time(finding: Finding, cast: SimpleNamespace) -> None:
    made = verify(finding, cast.oscar)
    assert "being verified already" in refused(finding, cast.oscar)
    carry_out(made.campaign, rates(140e6, 142e6))
    second = verify(finding, cast.oscar)
    assert second.campaign.experiments.get().seed != made.campaign.experiments.get().seed
    carry_out(second.campaign, rates(140e6, 980e6))
    finding.refresh_from_db()
    assert finding.state == "verified"
    assert [line.state for line in finding.decisions.all()] == ["verified", "refuted"]


def test_a_dismissed_finding_is_opened_first_and_stays_dismissed(finding: Finding, cast: SimpleNamespace) -> None:
    made = verify(finding, cast.oscar)
    services.decide_finding(finding=finding, user=cast.oscar, state=Finding.State.DISMISSED, reason="not ours")
    carry_out(made.campaign, rates(140e6, 980e6))
    made.refresh_from_db()
    finding.refresh_from_db()
    assert (made.verdict, finding.state) == ("verified", "dismissed")
    assert "open it again" in refused(finding, cast.oscar)


def test_a_cancelled_campaign_leaves_it_undecided(finding: Finding, cast: SimpleNamespace) -> None:
    made = verify(finding, cast.oscar)
    campaigns.cancel_campaign(campaign=made.campaign, user=cast.oscar, now=timezone.now())
    services.judge_verification(campaign=made.campaign, now=timezone.now())
    made.refresh_from_db()
    assert (made.verdict, made.gain) == ("undecided", None)


def test_the_campaign_that_verifies_draws_no_findings_of_its_own(finding: Finding, cast: SimpleNamespace) -> None:
    made = verify(finding, cast.oscar)
    carry_out(made.campaign, rates(140e6, 980e6))
    assert not made.campaign.findings.exists()


def test_what_was_put_to_the_test_stays_when_the_rules_fall_silent(
    finding: Finding, swept: Campaign, cast: SimpleNamespace
) -> None:
    made = verify(finding, cast.oscar)
    assert carry_out(made.campaign, lambda trial: None) == 6
    services.refresh_findings(campaign=swept)
    assert Finding.objects.filter(pk=finding.pk).exists()


def test_a_rule_that_changes_its_mind_opens_the_finding_again(
    finding: Finding, swept: Campaign, pair: list[Node], cast: SimpleNamespace
) -> None:
    carry_out(verify(finding, cast.oscar).campaign, rates(140e6, 980e6))
    assert store(swept, pair, draft(confidence=0.95)).state == "verified"
    again = store(swept, pair, draft(**proof({"window": NOW}, {"window": 2 * THEN})))
    assert (again.pk, again.state) == (finding.pk, "new")
    assert "something else" in Decision.objects.filter(finding=finding).first().note["msgid"]


def test_a_copy_of_the_campaign_verifies_nothing(finding: Finding, cast: SimpleNamespace) -> None:
    made = verify(finding, cast.oscar)
    carry_out(made.campaign, rates(140e6, 980e6))
    copy = campaigns.clone_campaign(campaign=made.campaign, user=cast.oscar)
    campaigns.launch_campaign(campaign=copy, user=cast.oscar, now=timezone.now())
    carry_out(copy, rates(140e6, 980e6))
    assert Verification.objects.count() == 1
    assert copy.trials.count() == 6


def test_viewers_and_strangers_verify_nothing(finding: Finding, cast: SimpleNamespace) -> None:
    with pytest.raises(PermissionDenied):
        verify(finding, cast.bob)
    with pytest.raises(Http404):
        verify(finding, cast.charlie)


def test_the_calibration_counts_how_predictions_turned_out(finding: Finding, cast: SimpleNamespace) -> None:
    carry_out(verify(finding, cast.oscar).campaign, rates(140e6, 980e6))
    carry_out(verify(finding, cast.oscar).campaign, rates(140e6, 700e6))
    carry_out(verify(finding, cast.oscar).campaign, rates(140e6, 140e6))
    found = queries.calibration_for(cast.bob)
    assert (found.judged, found.verified, found.refuted, found.close) == (3, 2, 1, 1)
    assert queries.calibration_for(cast.charlie).judged == 0
