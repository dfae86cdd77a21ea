"""A network is not called full on the page that says that its layer is not decided."""

import random

import pytest

from apps.bench.rules import ask_whole
from tests.bench.rules.storing import GPFS, sweep


@pytest.mark.parametrize("seed", range(40))
def test_no_page_says_both(seed):
    drawn = random.Random(seed)
    most, counts = drawn.uniform(112, 120), range(1, drawn.choice((4, 5)))
    rates = {
        count: [min(60 * count, most) * drawn.gauss(1, 0.01) for _ in range(drawn.choice((1, 2, 3)))]
        for count in counts
    }
    drafts = [draft for answer in ask_whole(sweep("clients", rates).evidence(GPFS)) for draft in answer.drafts]
    is_undecided = any(draft.rule == "undecided-layer" for draft in drafts)
    lines = [str(line) for draft in drafts if draft.rule == "storage-clients" for line in draft.why]
    assert not (is_undecided and any("it is full" in line for line in lines))
