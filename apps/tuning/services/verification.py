"""Findings put to the test: an A/B campaign made and launched, gone on with until it decides, and judged."""

import math
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from apps.accounts import rights
from apps.accounts.models import Role, User
from apps.bench.sweep import repetition, verification
from apps.bench.text import Message, _
from apps.campaigns import errors, live
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Experiment
from apps.campaigns.services import adaptation
from apps.campaigns.turns import sweep_turn
from apps.core import messages
from apps.tuning import contrasts, drafts, queries
from apps.tuning.models import Finding, Verification
from apps.tuning.services import decisions

Verdict = Verification.Verdict
# Leaves room in a campaign's name for the words around a finding's title.
LONGEST_TITLE = 150


def verify_finding(*, finding: Finding, user: User, now: datetime) -> Verification:
    """Make the smallest A/B campaign that proves a finding, and launch it; errors.Refused says why it can not be."""
    _require_verifiable(finding, user)
    contrast = contrasts.contrast_of(finding)
    with sweep_turn(user):
        composition = _composition_of(finding, contrast)
        with transaction.atomic():
            held = Finding.objects.select_for_update(of=("self",)).get(pk=finding.pk)
            _require_verifiable(held, user)
            return _launch(held, contrast, composition, user, now)


def _require_verifiable(finding: Finding, user: User) -> None:
    rights.require(user, finding.team, Role.OPERATOR)
    campaigns.require_writer(finding.campaign, user)
    if finding.state == Finding.State.DISMISSED:
        raise drafts.refuse(_("The finding is dismissed: open it again first."))
    if finding.verifications.filter(verdict=Verdict.OPEN).exists():
        raise drafts.refuse(_("It is being verified already: wait for that campaign's end, or cancel it."))


def _composition_of(finding: Finding, contrast: contrasts.SettingsContrast) -> campaigns.Composition:
    composition = campaigns.Composition(finding.team)
    composition.add(
        "experiment",
        roles=[campaigns.Player(role, node) for role, nodes in contrast.nodes.items() for node in nodes],
        name=gettext("Before and after"),
        repetitions=verification.LOOKS[0],
        order=Experiment.Order.RANDOMISED,
        seed=finding.verifications.count() + 1,
        # A copy of the campaign verifies nothing: it repeats each setting until its mean is known.
        precision=repetition.DEFAULT_PRECISION,
        most_repetitions=verification.LOOKS[-1],
        **contrast.as_experiment(),
    )
    return composition


def _launch(
    finding: Finding,
    contrast: contrasts.SettingsContrast,
    composition: campaigns.Composition,
    user: User,
    now: datetime,
) -> Verification:
    title = messages.render(finding.title)
    campaign = campaigns.create_campaign(
        team=finding.team,
        user=user,
        now=now,
        name=gettext("Verify: %(title)s") % {"title": title[:LONGEST_TITLE]},
        goal=gettext(
            "Measures the present and the recommended setting in turn until the interval of the gain decides."
        ),
        made_from=finding.campaign,
    )
    expanded = composition.save(campaign)
    record = Verification.objects.create(
        finding=finding,
        campaign=campaign,
        requested_by=user,
        proof=finding.details["proof"],
        unit=contrast.metric.unit,
        higher_is_better=contrast.metric.higher_is_better,
        predicted=finding.details.get("predicted"),
        predicted_gain=_predicted_gain(finding),
    )
    record.campaign = campaigns.start_expanded(campaign, expanded, user, now)
    live.publish(finding.campaign_id, "findings")
    return record


def continue_verification(*, experiment: Experiment, now: datetime) -> bool:
    """Add the blocks that a verification still needs, once all that were planned have ended.

    False if the experiment verifies nothing. The caller holds the experiment's lock.
    """
    record = Verification.objects.filter(campaign=experiment.campaign_id).first()
    if record is None:
        return False
    blocks = queries.blocks_of(experiment, record.proof["metric"])
    if blocks.is_complete:
        ruling = verification.rule(
            blocks.pairs,
            blocks.attempted,
            _claim_of(record),
            experiment.most_repetitions,
            record.higher_is_better,
        )
        if ruling.missing:
            adaptation.add_blocks(experiment=experiment, count=ruling.missing, now=now)
    return True


@transaction.atomic
def judge_verification(*, campaign: Campaign, now: datetime) -> Verification | None:
    """Write what an ended campaign decided on the finding that it verifies; None if it verifies nothing.

    A verdict gives the finding its state, unless it was dismissed in the meantime; undecided leaves it as it is.
    """
    record = Verification.objects.select_for_update(of=("self",)).filter(campaign=campaign).first()
    experiment = campaign.experiments.first()
    if record is None or experiment is None:
        return None
    blocks = queries.blocks_of(experiment, record.proof["metric"])
    gain = verification.gain_of(blocks.pairs)
    earlier = record.verdict
    record.verdict = verification.verdict_of(gain, _claim_of(record), record.higher_is_better)
    record.pairs = gain.pairs if gain else 0
    record.gain, record.gain_low, record.gain_high = (gain.ratio, gain.low, gain.high) if gain else (None, None, None)
    usable = [pair for pair in blocks.pairs if min(pair) > 0]
    record.present, record.realised = (_mean([pair[side] for pair in usable]) for side in (0, 1))
    record.judged_at = now
    record.save()
    if record.verdict not in (Verdict.UNDECIDED, earlier) and record.finding.state != Finding.State.DISMISSED:
        text = _("Measured %(pairs)s times in turn: the gain is ×%(gain)s (×%(low)s to ×%(high)s).")
        if verification.is_worse(gain, record.higher_is_better):
            text = _(
                "Measured %(pairs)s times in turn: ×%(gain)s (×%(low)s to ×%(high)s) is worse: keep what is there."
            )
        assert gain and gain.low is not None and gain.high is not None
        numbers = {"gain": gain.ratio, "low": gain.low, "high": gain.high}
        note = Message(text, {"pairs": gain.pairs, **{name: f"{value:.3g}" for name, value in numbers.items()}})
        state = Finding.State(record.verdict)
        decisions.record(finding=record.finding, state=state, note=note, verification=record)
    live.publish(record.finding.campaign_id, "findings")
    return record


def end_verifications(campaign: Campaign, now: datetime) -> None:
    """End undecided what a campaign that is to go was to verify; WrongState while a finding of it is verified."""
    under_way = Verification.objects.filter(verdict=Verdict.OPEN)
    names = under_way.filter(finding__campaign=campaign, campaign__deleting_at=None).values_list(
        "campaign__name", flat=True
    )
    if name := next(filter(None, names), None):
        text = _("Its finding is being verified by the campaign “%(name)s”: wait for its end, or cancel it.")
        raise errors.WrongState(Message(text, {"name": name}))
    own = under_way.filter(campaign=campaign)
    finding = own.values_list("finding__campaign", flat=True).first()
    own.update(verdict=Verdict.UNDECIDED, judged_at=now)
    if finding is not None:
        live.publish(finding, "findings")


def _claim_of(record: Verification) -> float:
    """Return the gain that is put to the test: what the finding said before anything was measured for it."""
    is_advice = record.finding.kind == Finding.Kind.RECOMMENDATION
    return verification.claim_of(record.predicted_gain, record.higher_is_better, is_advice=is_advice)


def _predicted_gain(finding: Finding) -> float | None:
    """Return what a finding predicts of its two settings: a gain, or the ratio that they had when they were tried."""
    then, beside = finding.details.get("predicted"), finding.details.get("tried")
    return finding.predicted_gain or (then / beside if then and beside else None)


def _mean(values: list[float]) -> float | None:
    """Return the geometric mean, so that the ratio of two is the gain; None of nothing."""
    return math.exp(math.fsum(math.log(value) for value in values) / len(values)) if values else None
