"""What limits a file system where it is not decided: told among the findings as beside the layers' tables."""

import pytest

from apps.bench import rules
from apps.bench.rules import layers, runner
from apps.bench.rules.base import DOUBT
from tests.bench.rules.storing import GPFS, MB, Storing, polarised


@pytest.mark.parametrize(
    "turned",
    [
        {},
        {"network": None},
        {"disk": None},
        {"network": (105, 105)},
        {"disk": 14 * MB},
        {"nfs": 13 * MB, "hexa": None},
    ],
    ids=str,
)
def test_every_verdict_is_told_whether_a_layer_is_named_or_not(turned):
    """What a page says beside a table stands among the findings, too, with way, records and clients."""
    evidence = polarised(**turned)
    found = layers.overview(evidence)
    assert runner.conclude_all(rules.of_whole(), evidence)
    for told in layers.table(evidence):
        titles = [draft for draft in found if str(draft.title) == str(told.verdict)]
        if told.layer:
            assert [draft.rule for draft in titles] == ["limiting-layer"]
        elif str(told.verdict).startswith("Not decided"):
            assert [(draft.rule, draft.kind) for draft in titles] == [("undecided-layer", DOUBT)]
            assert titles[0].missing == told.missing and titles[0].proposals == told.proposals
            assert f"({told.metric}, record_size = " in str(titles[0].title)
            assert "clients = " in str(titles[0].title)
        else:
            assert "a cache was measured" in str(told.verdict)


def test_where_nothing_is_known_of_what_lies_beneath_nobody_asked_which_layer_limits():
    make = Storing().io("GPFS_PDAISY", write=[13 * MB, 13.1 * MB, 13.2 * MB])
    assert layers.overview(make.evidence(GPFS, paths={})) == []
    assert [draft.rule for draft in layers.overview(make.evidence(GPFS))] == ["undecided-layer"]
