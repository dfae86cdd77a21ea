"""Of a thousand changed tables every false sentence of every kind is caught, and no true one refused."""

from collections import Counter

from apps.reports.claims import checks
from tests.reports import mutations
from tests.reports.oracle import TRUTH

# So many tables of each maker of sentences are changed: more than a thousand in all.
EACH, SEED = 250, 13


def test_every_kind_of_sentence_has_a_truth_that_it_is_held_against() -> None:
    assert set(TRUTH) == set(checks.RELATIONS)


def test_every_false_sentence_of_every_kind_is_caught_and_no_true_one_refused() -> None:
    seen: Counter[tuple[str, bool]] = Counter()
    tables = 0
    for told, document, table in mutations.cases(SEED, EACH):
        assert checks.check(told) == []
        tables += 1
        refused = {wrong.sentence for wrong in checks.check(document)}
        for _place, said in checks.sentences_of(document):
            truth = TRUTH[said.claim.relation](said, table)
            assert (said.text not in refused) == truth, (said, table)
            seen[said.claim.relation, truth] += 1
        # What is offered in the place of those that are false is true.
        assert checks.check(checks.corrected(document)) == []
    assert tables >= 1_000
    # No kind goes unseen: each was found true, and each false, often enough to tell.
    assert [
        kind for relation in checks.RELATIONS for kind in [(relation, True), (relation, False)] if seen[kind] < 4
    ] == []
