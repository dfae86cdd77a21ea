"""What a launch starts, in digests: whoever confirms it confirms this, and nothing that was changed since."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.campaigns.expansion import Cast, Expansion
from apps.campaigns.models import Campaign, Experiment
from apps.core import versions
from apps.testbeds.models import Link

DATES = "dates"
# What an experiment's form says of it; who takes part and what is measured are compared as they come out.
_DEFINITION = (
    "name", "tool", "after_id", "fixed", "factors", "zips", "exclusions", "order", "seed", "file_system_id",
    "context", "precision", "search_factor", "search_goal",
)  # fmt: skip
_EFFORT = ("repetitions", "warmups", "max_attempts", "retry_wait_s", "most_repetitions", "search_budget")
_LIMITS = ("pk", "udp_limit_bps", "udp_share_limit", "streams_limit")


def parts_of(campaign: Campaign, expanded: Iterable[tuple[Experiment, Expansion]]) -> dict[str, Any]:
    """Return {"dates" | "limits" | "experiment.part": what stands there}: all that a launch of the campaign starts.

    An experiment is named by its id; its parts are definition, points, roles and effort. Times and bytes that are
    estimated are no part of it: they change with what others measure.
    """
    parts: dict[str, Any] = {DATES: [campaign.start_at, campaign.cron, campaign.cron_timezone]}
    for experiment, expansion in expanded:
        fields = {
            "definition": [getattr(experiment, name) for name in _DEFINITION],
            "effort": [getattr(experiment, name) for name in _EFFORT],
            "points": [expansion.tool.slug, expansion.points, expansion.open],
            "roles": [_players(cast) for cast in expansion.casts],
        }
        parts |= {f"{experiment.pk}.{name}": value for name, value in fields.items()}
    parts["limits"] = list(Link.objects.filter(team=campaign.team_id).order_by("pk").values_list(*_LIMITS))
    return parts


def digest_of(parts: Mapping[str, Any]) -> str:
    """Return the 16 hexadecimal digits that stand for all parts together."""
    return versions.digest_of(parts)


def _players(cast: Cast) -> dict[str, list[int]]:
    return {role: [node.pk for node in nodes] for role, nodes in cast.roles.items()}
