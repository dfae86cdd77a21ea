"""What an address names of the histories: a lane, one point of its sweep, and a metric."""

from dataclasses import dataclass

from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.bench.sweep import likeness
from apps.bench.toolkit import Metric
from apps.campaigns.models import Lane
from apps.comparison.history import points, series
from apps.comparison.history.points import PointSetting
from apps.comparison.history.series import CampaignLevel, Subject
from apps.results import ways
from apps.toolbox import queries as toolbox


@dataclass(frozen=True)
class LaneHistory:
    """A history with what else was measured on its lane."""

    lane: Lane
    subject: Subject
    setting: PointSetting
    settings: list[PointSetting]
    metrics: list[Metric]
    levels: list[CampaignLevel]

    @property
    def nodes(self) -> str:
        """Return "sender → receiver" with the names of the nodes."""
        return ways.nodes_of(self.lane, self.subject.parameters, self.subject.metric.name)

    @property
    def untold(self) -> str:
        """Return the names of the settings that nobody told of some of its runs, and that may differ; "" of none."""
        if not self.setting.is_untold:
            return ""
        unknown = likeness.absent(self.subject.tool, self.setting.parameters)
        return ", ".join(gettext(parameter.label) for parameter in unknown)

    @property
    def address(self) -> str:
        """Return the address that shows it."""
        query = f"point={self.setting.key}&metric={self.subject.metric.name}"
        return f"{reverse('history:detail', args=[self.lane.pk])}?{query}"


def lane_for(user: User, pk: int) -> Lane:
    """Return a lane of a campaign that the user may see; Http404 if there is none."""
    return get_object_or_404(series.lanes_seen(user).select_related("experiment__campaign__team"), pk=pk)


def find(user: User, pk: int, *, point: str | None, metric: str | None) -> LaneHistory | None:
    """Return the history of a lane at a point, the usual ones where none is known by that name.

    None if nothing was measured on the lane yet, Http404 if it is not the user's.
    """
    lane = lane_for(user, pk)
    tool = toolbox.get_tool(lane.experiment.tool)
    lanes = series.like(lane, user)
    settings, metrics = points.settings_of(lanes), series.metrics_measured(tool, lanes)
    if not settings or not metrics:
        return None
    # A key takes long to be made: where no point is asked for, none is.
    setting = next((item for item in settings if point and item.key == point), settings[0])
    chosen = next((item for item in metrics if item.name == metric), metrics[0])
    subject = Subject(lane.experiment.campaign.team, tool, chosen, lane.roles, setting.parameters)
    return LaneHistory(lane, subject, setting, settings, metrics, series.levels_of(subject, lanes))


def missing_of(lane_history: LaneHistory, *, point: str | None, metric: str | None) -> dict[str, list[str]]:
    """Return {parameter: names that there are} of a point and a metric that are asked for and not there."""
    missing = {}
    if point and lane_history.setting.key != point:
        missing["point"] = [item.key for item in lane_history.settings]
    if metric and lane_history.subject.metric.name != metric:
        missing["metric"] = [item.name for item in lane_history.metrics]
    return missing
