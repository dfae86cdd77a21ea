"""A campaign with every kind of thing that a report prints: sweeps, loads, storage, sizes, findings, facts."""

from types import SimpleNamespace
from typing import Any

from django.utils import timezone

from apps.agents.models import FactSnapshot
from apps.bench.rules.folding import FOLDED
from apps.campaigns.models import Campaign, Trial
from apps.campaigns.services import launch_campaign
from apps.reports.columns import quantity
from apps.results.models import Sample, Series
from apps.tuning.models import Finding
from tests.campaigns import factories as make
from tests.comparison.comparisons import conftest as measured
from tests.results import factories as results
from tests.testbeds import factories as inventory
from tests.tuning.breaking import ended

# Offered loads (bit/s) on a link that carries 437 Mbit/s.
LOADS, CARRIED = (100e6, 200e6, 300e6, 400e6, 500e6, 600e6, 800e6), 437e6
FACTS = {
    "kernel": {"release": "6.1.0"},
    "cpu": {"caches": {"L1d": 32768, "L3": 2**25}},
    "tools": {
        "mpirun": {"path": "/usr/bin/mpirun", "version": "mpirun (Open MPI) 4.1"},
        "gcc": {"path": "/usr/bin/gcc", "version": "gcc (Debian) 12.2.0"},
        "srun": {"path": "/usr/bin/srun", "version": "slurm 22.05"},
    },
    "sysctls": {"net.core.rmem_max": "212992"},
}
# What iozone wrote (MB/s) with records of 64 KiB and 1 MiB; what it read is missing from the first trial of each.
WRITTEN = {65536: (30.0, 40.0, 50.0), 1048576: (60.0, 70.0, 90.0)}


def campaign(cast: SimpleNamespace, name: str = "Whole") -> Campaign:
    """Return a campaign that has ended, with its findings drawn by hand."""
    a, b = make.nodes(cast.team, f"{name}-a", f"{name}-b")
    make.link(a, b, f"{name} WAN")
    draft = make.campaign(cast, name=name)
    windows = [{"name": "window", "expression": "64KiB, 128KiB, 256KiB"}]
    make.experiment(draft, a, b, factors=windows, fixed={"streams": "1"}, repetitions=4)
    loads = [{"name": "rate", "expression": ", ".join(f"{load / 1e6:g} Mbit/s" for load in LOADS)}]
    make.experiment(draft, a, b, name="loads", tool="iperf3-udp", factors=loads, repetitions=2)
    _storage(draft, a)
    for number, (client, server) in enumerate(((a, b), (a, b)), start=1):
        make.experiment(draft, client, server, name=f"alone {number}", factors=[], repetitions=3)
    launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    _measure(draft)
    FactSnapshot.objects.create(node=a, digest=name, facts=FACTS)
    _conclude(draft)
    return ended(draft)


def _storage(draft: Campaign, node: Any) -> None:
    like_others = {"name": "records", "tool": "iozone", "repetitions": 3, "order": "as-given", "context": False}
    gpfs = inventory.file_system(draft.team, f"{draft.name} GPFS", inventory.cluster(draft.team, "", node))
    make.services.create_experiment(
        campaign=draft,
        user=draft.created_by,
        roles=make.players(client=node),
        fixed={},
        factors=[{"name": "record_size", "expression": "64KiB, 1MiB"}],
        file_system=gpfs,
        **like_others,
    )


def _measure(draft: Campaign) -> None:
    figures = [(trial, _samples(trial)) for trial in draft.trials.select_related("experiment")]
    found = {result.trial_id: result for result in results.measure_all(figures)}
    draft.trials.update(state="succeeded", finished_at=timezone.now())
    for trial, _own in figures:
        if trial.experiment.name == "windows":
            course = {"unit": "bit/s", "times": [0.0, 1.0, 2.0], "values": [1e8, 2e8, 3e8]}
            Series.objects.create(result=found[trial.pk], metric="goodput", **course)
            sizes = {"unit": "bit/s", "times": [64.0, 1024.0, 65536.0], "values": [1e6, 2e7, 3e8]}
            Series.objects.create(result=found[trial.pk], metric="goodput", stream="by size", **sizes)


def _samples(trial: Trial) -> dict[str, float]:
    share = 1 + 0.004 * trial.repetition + 0.0001 * trial.point
    if trial.experiment.tool == "iperf3-udp":
        load = float(trial.parameters["rate"])
        loss = max(0.0, 1 - CARRIED / load)
        found = {"goodput": load * (1 - loss) * share, "offered_load": load, "loss": loss}
        # Of the second repetition the tool printed no jitter.
        return found | ({"jitter": 1e-5 * share} if trial.repetition == 1 else {})
    if trial.experiment.tool == "iozone":
        written = WRITTEN[trial.parameters["record_size"]][trial.repetition - 1] * 1e6
        return {"write": written} | ({"read": 2 * written} if trial.repetition > 1 else {})
    rate = measured.SWEEP.get(trial.parameters.get("window"), 100e6)
    return {"goodput": share * rate, "retransmits": float(trial.repetition * 3)}


def _conclude(draft: Campaign) -> None:
    def text(words: str, **params: object) -> dict[str, object]:
        return {"msgid": words, "params": params}

    def found(rule: str, kind: str, title: Any, details: dict[str, Any], **values: Any) -> Finding:
        of = {"team": draft.team, "campaign": draft, "rule": rule, "kind": kind, "title": title}
        return Finding.objects.create(**of, details={**details, "title": title}, confidence=0.9, **values)

    alone = [trial.pk for trial in draft.trials.filter(experiment__name="windows", parameters__window=65536)]
    best = [trial.pk for trial in draft.trials.filter(experiment__name="windows", parameters__window=262144)]
    kept = [trial.samples.get(metric="goodput").value for trial in draft.trials.filter(pk__in=alone).order_by("pk")]
    kept_best = [trial.samples.get(metric="goodput").value for trial in draft.trials.filter(pk__in=best)]
    present, predicted = sum(kept) / len(kept), sum(kept_best) / len(kept_best)
    fixed = {"streams": 1}
    proof = {
        "tool": "iperf3-tcp", "metric": "goodput", "file_system": "",
        "now": {**fixed, "window": 65536}, "then": {**fixed, "window": 262144},
    }  # fmt: skip
    part = {
        "rule": "tcp-streams", "version": 3, "title": text("Use four streams"), "why": [text("One waits.")],
        "present": present, "predicted": 1.5 * present, "predicted_unit": "bit/s", "confidence_label": "medium",
        "change": "iperf3 -c SERVER -P 4", "undo": "iperf3 -c SERVER", "evidence": [], "formula": "4 · W / RTT",
        "confidence": 0.6,
        "applies_when": text("Always."),
    }  # fmt: skip
    details = {
        "why": [text("The window fills no path.", window="256 KiB"), text(FOLDED, title=part["title"])],
        "evidence": [*alone, *best], "confidence_label": "high",
        "present": present, "predicted": predicted, "predicted_unit": "bit/s", "proof": proof, "parts": [part],
        "value": 262144, "unit": "B",
    }  # fmt: skip
    lead = found(
        "tcp-window-knee", "recommendation", text("Ask for %(window)s", window="256 KiB"), details,
        change="iperf3 -w 256K", undo="iperf3", predicted_gain=predicted / present, state="accepted",
    )  # fmt: skip
    lead.trials.set([*alone, *best])
    lead.verifications.create(proof={}, verdict="open")
    lost = {"missing": [text("Loss hop by hop.")], "evidence": alone, "confidence_label": "high"}
    found("path-loss", "diagnosis", text("The path loses"), lost)
    # The mean of what came through at the highest load, which its two trials measured.
    loaded = [trial.pk for trial in draft.trials.filter(experiment__name="loads", parameters__rate=LOADS[-1])]
    came = [sample.value for sample in Sample.objects.filter(trial__in=loaded, metric="goodput")]
    carried = {"value": sum(came) / len(came), "unit": "bit/s", "evidence": loaded, "confidence_label": "high"}
    title = text("The path carries %(rate)s", rate=quantity(carried["value"], "bit/s"))
    found("path-capacity", "diagnosis", title, carried).trials.set(loaded)
    kept_mtu = {"value": 9000, "unit": "B", "confidence_label": "high"}
    found(
        "tcp-mtu",
        "no-change",
        text("An MTU of %(mtu)s may stay (%(links)s)", mtu="9,000 B", links="2 links"),
        kept_mtu,
    )
