"""A campaign with a ping and a window sweep whose samples are those of the emulated KISTI-Pusan link."""

from types import SimpleNamespace

import pytest

from apps.campaigns.models import Campaign, Trial
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.results.factories import measure_all

# Window in bytes: goodput in bit/s, as measured on the link of 1 Gbit/s and 4.8 ms.
SWEEP = {65536: 140e6, 131072: 279e6, 262144: 533e6, 524288: 960e6, 1048576: 989.8e6, 2097152: 990.1e6}
EXPRESSION = ", ".join(f"{size // 1024}KiB" for size in SWEEP)


@pytest.fixture
def swept(cast: SimpleNamespace, pair: list[Node]) -> Campaign:
    """Return a launched campaign whose trials all have their samples."""
    draft = make.campaign(cast)
    make.experiment(draft, *pair, name="rtt", tool="ping", fixed={"count": "5"}, factors=[])
    make.experiment(draft, *pair, factors=[{"name": "window", "expression": EXPRESSION}], repetitions=3)
    campaign = make.services.launch_campaign(campaign=draft, user=cast.oscar, now=make.NOW)
    measure_all((trial, figures_of(trial)) for trial in campaign.trials.select_related("experiment"))
    return campaign


def figures_of(trial: Trial) -> dict[str, float]:
    """Return the samples of a trial."""
    if trial.experiment.tool == "ping":
        return {"rtt_min": 0.0048, "rtt_mean": 0.0049}
    window = trial.parameters["window"]
    goodput = SWEEP[window] * (1 + 0.002 * trial.repetition)
    rtts = {"min_rtt": 0.0048, "mean_rtt": 0.0049}
    return {"goodput": goodput, "window_observed": 1.4 * window, **rtts, "retransmits": 0}
