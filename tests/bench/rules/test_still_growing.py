"""The most that was tried is advised with the word that the rate still grew there."""

import random

import pytest

from apps.bench.rules.base import RECOMMENDATION
from tests.bench.rules.test_better_settings import concluded, evidence_of_rates


@pytest.mark.parametrize(("last", "grows"), [(1400, True), (905, False)])
def test_the_most_streams_that_still_gain_are_said_to(last: int, grows: bool) -> None:
    rates = {(0, 1): 100, (0, 2): 200, (0, 4): 400, (0, 8): 900, (0, 16): last}
    leads = [draft for draft in concluded(evidence_of_rates(rates, random.Random(2))) if draft.kind == RECOMMENDATION]
    lines = [str(line) for draft in leads for line in (*draft.why, *draft.limits)]
    assert any("still grew at the largest number of streams tried, 16" in line for line in lines) == grows
