"""Store a case as a campaign of published figures: experiments, trials and results that nobody carried out here."""

import dataclasses
import hashlib
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from django.utils.translation import gettext

from apps.accounts.models import Team, User
from apps.bench import strict_json
from apps.bench.rules.base import Ratio, Trend
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, ParameterError, Tool
from apps.campaigns.models import Campaign, Experiment, ExperimentRole, Lane, Run, Trial
from apps.core import immutability, messages
from apps.results.evidence.points import PRINTED
from apps.results.models import Result, Sample
from apps.testbeds.models import FileSystem, Node
from apps.toolbox import queries as toolbox
from apps.tuning.published.drafts import CaseDraft, PublishedValue, Setup
from apps.tuning.published.places import WrongPlace

# Raised when cases are stored otherwise than before, so that the next import changes what the last one stored.
VERSION = 1

Action = Literal["created", "changed", "same"]


class Store:
    """Keeps the cases of one file in a team's archive; knows its nodes and file systems by name."""

    def __init__(self, team: Team, user: User | None, now: datetime) -> None:
        self._team, self._user, self._now = team, user, now
        self._nodes = dict(Node.objects.filter(team=team).values_list("name", "pk"))
        self._file_systems = {item.name: item for item in FileSystem.objects.filter(team=team)}
        own = Campaign.objects.filter(team=team, origin=Campaign.Origin.PUBLISHED, deleting_at=None).order_by("-pk")
        self._known = {campaign.publication.get("case"): campaign for campaign in own}

    def keep(self, draft: CaseDraft) -> tuple[Action, Campaign]:
        """Return what was done, and the campaign."""
        publication = {
            "case": draft.name,
            "conclusion": draft.conclusion,
            "note": draft.note,
            "given": draft.given,
            "path": dict(draft.path),
            "remarks": [remark.as_json() for remark in draft.remarks],
            "digest": digest_of(draft),
        }
        campaign = self._known.get(draft.name)
        if campaign is None:
            return "created", self._fill(self._begin(draft, publication), draft)
        if campaign.publication.get("digest") == publication["digest"]:
            return "same", campaign
        with immutability.letting_go():
            campaign.experiments.all().delete()
        campaign.publication, campaign.goal, campaign.finished_at = publication, draft.conclusion, self._now
        campaign.save(update_fields=["publication", "goal", "finished_at", "updated_at"])
        return "changed", self._fill(campaign, draft)

    def _begin(self, draft: CaseDraft, publication: dict[str, Any]) -> Campaign:
        return Campaign.objects.create(
            team=self._team,
            name=draft.name,
            goal=draft.conclusion,
            origin=Campaign.Origin.PUBLISHED,
            publication=publication,
            created_by=self._user,
            state=Campaign.State.FINISHED,
            launched_at=self._now,
            finished_at=self._now,
            analysed_at=self._now,
        )

    def _fill(self, campaign: Campaign, draft: CaseDraft) -> Campaign:
        setups = [setup for setup in draft.setups if not setup.is_empty]
        for position, setup in enumerate(setups):
            self._store_setup(campaign, position, setup)
        return campaign

    def _store_setup(self, campaign: Campaign, position: int, setup: Setup) -> None:
        tool = toolbox.get_tool(setup.tool)
        experiment = Experiment.objects.create(
            campaign=campaign,
            position=position,
            name=setup.name,
            tool=setup.tool,
            **_sweep_of(setup.figures),
            repetitions=1,
            order=Experiment.Order.AS_GIVEN,
            file_system=self._file_systems[setup.file_system] if setup.file_system else None,
            context=False,
            printed=_printed(setup),
            expanded_at=self._now,
        )
        roles = {role: [self._nodes[name] for name in names] for role, names in setup.roles.items()}
        ExperimentRole.objects.bulk_create(
            ExperimentRole(experiment=experiment, role=role, node_id=node)
            for role, nodes in roles.items()
            for node in nodes
        )
        resources = sorted({f"node:{node}" for nodes in roles.values() for node in nodes})
        resources += [experiment.file_system.key] if experiment.file_system else []
        lane = Lane.objects.create(experiment=experiment, roles=roles, resources=resources)
        for place, figure in enumerate(setup.figures):
            self._store_figure(lane, place, figure, setup, tool)

    def _store_figure(self, lane: Lane, place: int, figure: PublishedValue, setup: Setup, tool: Tool) -> None:
        experiment = lane.experiment
        trial = Trial.objects.create(
            campaign=experiment.campaign,
            experiment=experiment,
            lane=lane,
            position=place,
            point=place,
            repetition=1,
            parameters=_clean(figure, tool),
            state=Trial.State.SUCCEEDED,
            attempts=1,
            finished_at=self._now,
        )
        run = Run.objects.create(
            trial=trial, experiment=experiment, attempt=1, state=Run.State.SUCCEEDED, ended_at=self._now
        )
        text = _(
            "A published figure (%(place)s), not measured here. Parameters not printed have the tool's defaults."
        )
        result = Result.objects.create(
            run=run,
            trial=trial,
            experiment=experiment,
            tool=tool.slug,
            tool_version=setup.version,
            observed={PRINTED: {"statistic": figure.statistic, "place": figure.place}},
            flags=[Flag(PRINTED, "info", Message(text, {"place": figure.place})).as_json()],
        )
        metrics = {metric.name for metric in tool.metrics}
        assert figure.values.keys() <= metrics, f"{tool.slug} has not all of {sorted(figure.values)}"
        Sample.objects.bulk_create(
            Sample(result=result, trial=trial, experiment=experiment, metric=metric, value=value)
            for metric, value in figure.values.items()
        )


def digest_of(draft: CaseDraft) -> str:
    """Return what tells whether a case is still what was stored."""
    data = strict_json.dumps([VERSION, dataclasses.asdict(draft)], sort_keys=True, default=str)
    return hashlib.sha256(data.encode()).hexdigest()


def _clean(figure: PublishedValue, tool: Tool) -> dict[str, Any]:
    try:
        return tool.clean(dict(figure.parameters))
    except ParameterError as error:
        texts = "; ".join(f"{name}: {messages.render(message)}" for name, message in error.errors.items())
        raise WrongPlace(figure.place, gettext("no %(tool)s measures this: %(why)s") % _why(tool, texts)) from error


def _why(tool: Tool, texts: str) -> dict[str, str]:
    return {"tool": tool.name, "why": texts}


def _sweep_of(figures: tuple[PublishedValue, ...]) -> dict[str, Any]:
    """Return the parameters as an experiment writes them: those that differ are factors, varied together."""
    names = list(dict.fromkeys(name for figure in figures for name in figure.parameters))
    values = {name: list(dict.fromkeys(figure.parameters.get(name) for figure in figures)) for name in names}
    varied = [name for name in names if len(values[name]) > 1]
    return {
        "fixed": {name: str(values[name][0]) for name in names if name not in varied},
        "factors": [
            {"name": name, "expression": ", ".join(str(figure.parameters.get(name, "")) for figure in figures)}
            for name in varied
        ],
        "zips": [varied] if len(varied) > 1 else [],
    }


def _printed(setup: Setup) -> dict[str, list[dict[str, Any]]]:
    """Return the trends and ratios as JSON has them: a ratio without an upper end has null there."""
    printed = {"trends": [_plain(item) for item in setup.trends], "ratios": [_plain(item) for item in setup.ratios]}
    return {name: items for name, items in printed.items() if items}


def _plain(item: Trend | Ratio) -> dict[str, Any]:
    values: Mapping[str, Any] = dataclasses.asdict(item)
    return {
        name: None if isinstance(value, float) and math.isinf(value) else value
        for name, value in values.items()
        if name != "trials"
    }
