"""All rules together, and the form of a finding."""

import json

import pytest

from apps.bench import rules
from apps.bench.rules import runner
from apps.bench.rules.base import FindingDraft, PathFacts
from apps.bench.text import Message
from tests.bench.rules.cases import Maker, evidence


def test_the_recorded_campaign_gives_the_first_recommendation():
    make = Maker()
    points = [make.ping(0.004788), *make.recorded("winsweep_pnu"), *make.recorded("streamsweep_pnu")]
    drafts = {draft.rule: draft for draft in runner.drafts_of(rules.ask_ends(evidence(points)))}
    assert {"tcp-bdp", "tcp-limit", "tcp-window-knee", "tcp-streams", "tcp-sysctl"} <= set(drafts)
    assert drafts["tcp-bdp"].value == 598_500
    assert drafts["tcp-window-knee"].value == 1024**2
    assert drafts["tcp-streams"].value == 8
    assert drafts["tcp-sysctl"].value == 1_769_472


def test_a_finding_rests_on_trials_and_can_be_stored():
    make = Maker()
    points = [make.ping(0.004788), *make.recorded("winsweep_pnu"), *make.recorded("streamsweep_pnu")]
    trial_ids = {trial for point in points for trials in point.metrics.values() for trial in trials}
    for draft in runner.drafts_of(rules.ask_ends(evidence(points))):
        assert draft.evidence
        assert set(draft.evidence) <= trial_ids
        assert 0 < draft.confidence <= 0.95
        assert len(draft.rule) <= 50
        assert len(draft.unit) <= 10
        document = json.loads(json.dumps(draft.as_json(), allow_nan=False))
        assert document["confidence_label"] in {"high", "medium", "low"}
        for message in (document["title"], document["applies_when"], *document["why"], *document["limits"]):
            assert message["msgid"] % message["params"]


def test_no_evidence_gives_no_findings():
    assert runner.drafts_of(rules.ask_ends(evidence([]))) == []
    assert runner.drafts_of(rules.ask_ends(evidence([], PathFacts()))) == []


@pytest.mark.parametrize(("confidence", "label"), [(0.95, "high"), (0.8, "high"), (0.5, "medium"), (0.49, "low")])
def test_confidence_has_a_word(confidence, label):
    draft = FindingDraft(
        rule="x",
        version=1,
        title=Message("x"),
        why=(),
        value=1.0,
        unit="B",
        formula="",
        evidence=(1,),
        confidence=confidence,
        applies_when=Message("always"),
    )
    assert draft.confidence_label == label
    assert draft.as_json()["predicted_interval"] is None
