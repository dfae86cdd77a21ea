"""What a measurement decides on is the advised setting against the present one, and what was said before it."""

from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Trial
from apps.testbeds.models import Node
from tests.tuning.carrying import carry_out, draft, rates, store, verify


@pytest.fixture
def ended(swept: Campaign) -> Campaign:
    """Return an ended campaign: its nodes have nothing else to do."""
    Trial.objects.update(state="succeeded")
    campaigns.finish_campaign(campaign_id=swept.pk, now=timezone.now())
    return swept


@pytest.mark.parametrize(("kind", "verdict"), [("recommendation", "refuted"), ("no-change", "verified")])
def test_no_gain_refutes_what_is_advised_and_verifies_that_nothing_needs_a_change(
    ended: Campaign, pair: list[Node], cast: SimpleNamespace, kind: str, verdict: str
) -> None:
    made = verify(store(ended, pair, draft(rule="equal", kind=kind, present=980e6)), cast.oscar)
    carry_out(made.campaign, rates(980e6, 985e6, noise=0.004))
    made.refresh_from_db()
    assert made.gain_low is not None and made.gain_high is not None
    assert made.gain_low < 1.05 < 1.05 * made.gain_high
    assert made.verdict == verdict


def test_what_was_tried_is_put_to_the_test_and_no_recommendation_comes_of_it(
    ended: Campaign, pair: list[Node], cast: SimpleNamespace
) -> None:
    own = draft(rule="tried", kind="diagnosis", present=None, tried=100e6, is_comparison=True)
    made = verify(store(ended, pair, own), cast.oscar)
    assert made.predicted_gain == pytest.approx(9.8)
    assert made.finding.predicted_gain is None
    carry_out(made.campaign, rates(100e6, 980e6, noise=0.01))
    made.refresh_from_db()
    assert made.verdict == "verified"
