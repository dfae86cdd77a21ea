"""Every registered rule answers every whole chain of evidence, or is silent; none ever fails."""

import json
import math
import traceback

from hypothesis import HealthCheck, given, seed, settings

from apps.bench import rules
from apps.bench.rules import folding, layers, runner, workloads
from apps.bench.rules.base import RECOMMENDATION
from apps.bench.rules.workloads import PATTERNS, Workload
from tests import sayings
from tests.bench.rules.chains import chains
from tests.rotation import SEED, number_of

ASKED = settings(
    max_examples=number_of(300),
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
# What no figure in these units can be below.
QUANTITIES = {"bit/s", "B/s", "B", "s", "1", "count"}


@seed(SEED)
@ASKED
@given(chains())
def test_no_rule_table_or_fit_fails_on_any_chain_of_evidence_or_says_what_cannot_be(evidence):
    """All of it of each chain: to draw one takes as long as to ask about it."""
    for answers in (rules.ask_ends(evidence), rules.ask_whole(evidence)):
        for answer in answers:
            assert answer.failure is None, _traceback_of(answer.failure)
            for draft in answer.drafts:
                _check(answer.rule, draft)
    for table in layers.table(evidence):
        for row in table.rows:
            assert row.value > 0
            assert row.interval is None or 0 <= row.interval[0] <= row.interval[1]
    for pattern in PATTERNS:
        for fit in workloads.fit(evidence, Workload(pattern, 4096, nodes=2, tasks=2, record_size=4096, wanted=1e7)):
            assert fit.low is None or 0 <= fit.low <= fit.rate <= fit.high
            assert math.isfinite(fit.rate)


# What a program does where nobody chooses; of any other parameter nobody knows what is there.
NOBODY_CHOSE = {"window": (0,), "streams": (1,), "concurrency": (1,), "pipelining": (False,), "data_nodes": (1,)}


def _check_present(draft):
    """What is called present, gained or recommended is over a default that was measured, or a fact of the nodes."""
    if draft.is_comparison:
        assert (draft.present, draft.undo) == (None, ""), draft
        assert draft.kind != RECOMMENDATION, draft
    if draft.proof is None or (draft.kind != RECOMMENDATION and draft.present is None):
        return
    now, then = draft.proof.now, draft.proof.then
    names = {name for name in {*now, *then} if now.get(name) != then.get(name) and not name.startswith("setting.")}
    if draft.kind == RECOMMENDATION and names:
        assert draft.present is not None, draft
    for name in names - {"congestion"}:
        assert now.get(name, NOBODY_CHOSE[name][0]) in NOBODY_CHOSE[name], draft


def _check(rule, draft):
    _check_present(draft)
    document = json.loads(json.dumps(draft.as_json(), allow_nan=False))
    assert (draft.rule, draft.version) == (rule.name, rule.version)
    assert 0 < draft.confidence <= 0.95
    assert len(draft.rule) <= 50
    assert len(draft.subject) <= 200
    assert len(draft.unit) <= 10
    for message in (
        document["title"],
        *document["why"],
        *document["against"],
        *document["missing"],
        *document["limits"],
    ):
        assert not sayings.faults_of(message)
    if draft.low is not None and draft.high is not None:
        assert draft.low <= draft.high
    if draft.unit in QUANTITIES:
        assert draft.low is None or draft.low >= 0, draft
    if draft.predicted_interval:
        low, high = draft.predicted_interval
        assert 0 <= low <= high, draft
    if draft.kind == RECOMMENDATION and draft.present and draft.predicted:
        gain = draft.present / draft.predicted if draft.predicted_unit == "s" else draft.predicted / draft.present
        assert gain >= 1, draft


def _traceback_of(failure):
    return "".join(traceback.format_exception(failure.cause))


def test_all_rules_have_names_of_their_own():
    names = [rule.name for rule in rules.registered()]
    assert len(names) == len(set(names))
    assert len(names) > 40


def test_a_fingerprint_tells_versions_apart():
    registry = (*rules.registered(), *folding.OF_OTHERS)
    changed = [runner.Rule(registry[0].name, registry[0].version + 1, registry[0].conclude), *registry[1:]]
    assert runner.fingerprint(registry) == rules.fingerprint() == runner.fingerprint(reversed(registry))
    assert runner.fingerprint(changed) != rules.fingerprint()
    assert runner.fingerprint(registry[1:]) != rules.fingerprint()
