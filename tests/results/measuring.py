"""A campaign whose window sweep is measured with recorded outputs, from launch to results."""

from dataclasses import dataclass

from django.utils import timezone

from apps.campaigns import services
from apps.campaigns.models import Campaign, Run
from apps.testbeds.models import Node
from tests import factories
from tests.bench.tools import recordings
from tests.campaigns import factories as make
from tests.workers import factories as agents
from workers import carry_out

# What iperf3 printed on the emulated link for each window of the sweep, repetition by repetition.
WINDOWS = {
    65536: ("winsweep_pnu/w64K_cubic_r1.json", "winsweep_pnu/w64K_cubic_r2.json"),
    1048576: ("winsweep_pnu/w1M_cubic_r0.json", "winsweep_pnu/w1M_cubic_r2.json"),
}


@dataclass(frozen=True)
class Measured:
    """A campaign that was measured, between which nodes, and the people around it."""

    cast: factories.Cast
    pair: list[Node]
    campaign: Campaign


def carry_out_all() -> None:
    """Measure whatever starts, with the recording of its window, until nothing is left."""
    carry_out.schedule()
    while run := Run.objects.filter(state__in=Run.OPEN_STATES).first():
        agents.listen(run)
        names = WINDOWS[run.trial.parameters["window"]]
        recorded = recordings.load("iperf3-tcp", names[run.trial.repetition % 2])
        agents.measure(run, recorded)
        carry_out.advance(run.pk)
    services.finish_campaigns(now=timezone.now())


def sweep() -> Measured:
    """Return a finished campaign of two windows, two repetitions each."""
    cast = factories.cast()
    pair = make.joined(cast.team)
    agents.enrol(*pair)
    campaign = make.launched(cast, *pair, fixed={"duration": "4 s", "omit": "1 s"})
    carry_out_all()
    campaign.refresh_from_db()
    return Measured(cast, pair, campaign)
