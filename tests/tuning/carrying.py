"""Carry out campaigns as workers do, with figures that a test gives instead of programs."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.bench.rules.base import FindingDraft, Proof
from apps.bench.text import Message
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Trial
from apps.results.models import Result, Sample
from apps.testbeds.models import Node
from apps.tuning import services
from apps.tuning.models import Finding, Verification
from tests.campaigns import factories as make
from workers import adaptation, analysis

Rate = Callable[[Trial], float | None]
NOW, THEN = 65536, 1048576


def carry_out(campaign: Campaign, rate: Rate, metric: str = "goodput") -> int:
    """Carry out what is pending until nothing is, with a figure for each trial, None for a failure; then judge."""
    done = 0
    while Trial.objects.filter(campaign=campaign, state="pending").exists():
        done += 1
        assert done < 100
        (run,) = make.take(now=timezone.now())
        value, trial = rate(run.trial), run.trial
        with transaction.atomic():
            if value is None:
                Trial.objects.filter(pk=trial.pk).update(state="failed")
                run.state = "failed"
                run.reservations.all().delete()
                run.save()
            else:
                result = Result.objects.create(run=run, trial=trial, experiment=trial.experiment, tool="iperf3-tcp")
                Sample.objects.create(
                    result=result, trial=trial, experiment=trial.experiment, metric=metric, value=value
                )
                campaigns.succeed_run(run=run, now=timezone.now())
            adaptation.adapt(trial=trial, now=timezone.now())
    campaigns.finish_campaign(campaign_id=campaign.pk, now=timezone.now())
    assert analysis.analyse_campaign(campaign_id=campaign.pk, now=timezone.now())
    return done


def draft(**changes: Any) -> FindingDraft:
    """Return what a rule may say: a larger window is to give seven times the rate."""
    values: dict[str, Any] = {
        "rule": "tcp-window",
        "version": 1,
        "title": Message("Ask for a window of %(window)s", {"window": "1 MiB"}),
        "why": (Message("The window is the limit."),),
        "formula": "W = 2 · BDP",
        "evidence": (),
        "present": 140e6,
        "predicted": 980e6,
        "predicted_interval": (900e6, 990e6),
        "predicted_unit": "bit/s",
        "confidence": 0.9,
        "applies_when": Message("One stream."),
        "proof": Proof("iperf3-tcp", "goodput", {"window": NOW}, {"window": THEN}),
    }
    return FindingDraft(**values | changes)


def store(campaign: Campaign, pair: list[Node], said: FindingDraft) -> Finding:
    """Keep a draft as if a rule had drawn it from all trials of the campaign."""
    trials = list(campaign.trials.values_list("pk", flat=True))
    kept = FindingDraft(**{**vars(said), "evidence": tuple(trials)})
    ends = tuple(zip(("client", "server"), (node.pk for node in pair), strict=True))
    return services.findings._store(campaign, ends, kept)


def rates(now: float, then: float, **noise: float) -> Rate:
    """Return a rate for each trial by its window, with a share of noise by the block's number, 1 % of it each."""
    share = noise.get("noise", 0.0)

    def rate(trial: Trial) -> float:
        level = now if trial.parameters["window"] == NOW else then
        sign = 1 if (trial.repetition + trial.point) % 2 else -1
        return level * (1 + sign * share)

    return rate


def verify(finding: Finding, user: Any) -> Verification:
    """Begin a verification now."""
    return services.verify_finding(finding=finding, user=user, now=timezone.now())
