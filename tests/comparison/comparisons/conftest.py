"""Two campaigns with the same sweep, the second a fifth faster, with samples made up."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.campaigns.models import Campaign, Trial
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import Comparison, compare
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.state import read_text
from apps.results.models import Result
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.results import factories as results

# Window in bytes: goodput in bit/s.
SWEEP = {65536: 140e6, 131072: 279e6, 262144: 533e6, 524288: 780e6}
EXPRESSION = ", ".join(f"{size // 1024}KiB" for size in SWEEP)
FACTORS = [{"name": "window", "expression": EXPRESSION}, {"name": "streams", "expression": "1, 2"}]


def measure(trial: Trial, **samples: float) -> Result:
    """Give a trial a successful run with these samples, and have it done."""
    result = results.measure(trial, **samples)
    Trial.objects.filter(pk=trial.pk).update(state="succeeded", finished_at=timezone.now())
    return result


def swept(cast: SimpleNamespace, pair: list[Node], name: str, factor: float = 1.0, **values: Any) -> Campaign:
    """Return a launched campaign in which every trial has its goodput, `factor` times that of the sweep."""
    campaign = make.launched(cast, *pair, name=name, **{"factors": FACTORS, "repetitions": 4, **values})
    figures = []
    for trial in campaign.trials.select_related("experiment"):
        # Repetitions differ by a known share, so that no two values are the same.
        share = 1 + 0.004 * trial.repetition + 0.0001 * trial.point
        rate = SWEEP.get(trial.parameters["window"], 100e6) * trial.parameters["streams"] ** 0.2
        figures.append((trial, {"goodput": factor * share * rate, "retransmits": trial.repetition}))
    results.measure_all(figures)
    campaign.trials.update(state="succeeded", finished_at=timezone.now())
    return campaign


@pytest.fixture
def before(cast: SimpleNamespace, pair: list[Node]) -> Campaign:
    """Return a campaign of 32 trials."""
    return swept(cast, pair, "Before")


@pytest.fixture
def after(cast: SimpleNamespace, pair: list[Node]) -> Campaign:
    """Return the same, a fifth faster."""
    return swept(cast, pair, "After", 1.2)


def address(*campaigns: Campaign, more: str = "") -> str:
    """Return the address that compares campaigns."""
    return "/compare/?" + "&".join([*(f"set=campaign:{campaign.pk}" for campaign in campaigns), more])


def compared(query: str, user: User) -> Comparison:
    """Return what a user sees of the comparison that an address asks for."""
    state, errors = read_text(query)
    assert not errors
    return compare(gather(choose(state, user)))
