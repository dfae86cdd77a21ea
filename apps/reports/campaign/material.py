"""All that a campaign's report is made of, read in a few queries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from django.db.models import Max, Min, Prefetch
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import TeamOwned, User
from apps.bench.text import Message
from apps.bench.toolkit import Metric, Tool, goes_back
from apps.bench.toolkit.ways import in_order
from apps.campaigns.models import Campaign, Experiment, Lane, Trial
from apps.campaigns.queries import Progress, progress_of_experiments
from apps.reports.campaign import since
from apps.reports.document import TextLink
from apps.results import queries as results
from apps.results import validity
from apps.results.models import Result
from apps.testbeds import patterns
from apps.testbeds.models import Cluster, Node
from apps.testbeds.patterns import told_ends
from apps.toolbox import queries as toolbox
from apps.tuning import queries as findings
from apps.tuning import readers, references, untold
from apps.tuning.analysis import queries as analyses
from apps.tuning.analysis.queries import Standing
from apps.tuning.models import Finding

# Of the trials that a finding rests on so many are named; the campaign's own page has all.
SHOWN_TRIALS = 8


@dataclass
class Material:
    """What was measured: experiments in the order of the report, numbered from 1.

    `progress` {experiment: what became of its trials}, `metrics` {experiment: those with figures, the primary one
    first}, `versions` {tool: versions}, `invalid` {name of a flag: results}, `corrected` results that were read
    again, `period` the first and last end of what was carried out; `findings` with their references, but for those
    that are `outdated`, with what a later campaign measured otherwise; `evidence`
    {id: trial} the first trials that they rest on, `titles` {finding: its title} with its figures as the table of
    what they rest on has them, and what it claims of them; `unfinished` the analyses that wait or failed;
    `silent` says of which campaigns rules found nothing since what they read is not known.
    """

    campaigns: Sequence[Campaign]
    user: User
    baseline: Campaign | None = None
    experiments: list[Experiment] = field(default_factory=list)
    lanes: dict[int, list[Lane]] = field(default_factory=dict)
    nodes: dict[int, Node] = field(default_factory=dict)
    clusters: list[Cluster] = field(default_factory=list)
    tools: dict[str, Tool] = field(default_factory=dict)
    progress: dict[int, Progress] = field(default_factory=dict)
    metrics: dict[int, list[Metric]] = field(default_factory=dict)
    versions: dict[str, list[str]] = field(default_factory=dict)
    invalid: Counter[str] = field(default_factory=Counter)
    corrected: int = 0
    period: tuple[datetime | None, datetime | None] = (None, None)
    findings: list[tuple[Finding, str]] = field(default_factory=list)
    outdated: list[tuple[Finding, str, since.Refutation]] = field(default_factory=list)
    evidence: dict[int, Trial] = field(default_factory=dict)
    titles: dict[int, TextLink] = field(default_factory=dict)
    unfinished: list[Standing] = field(default_factory=list)
    silent: list[tuple[Campaign, Message]] = field(default_factory=list)

    @property
    def is_concluded(self) -> bool:
        """Return whether every campaign was analysed, and by rules that had runs to look at."""
        return not self.unfinished and not self.silent

    @property
    def main(self) -> Campaign:
        """Return the campaign that the report is of."""
        return self.campaigns[0]

    def is_own(self, item: TeamOwned) -> bool:
        """Return whether a thing of the inventory is of the report's team, and who reads is of that as well."""
        return item.team_id == self.main.team_id and self._is_of_team

    @cached_property
    def _is_of_team(self) -> bool:
        return rights.role_in(self.user, self.main.team) is not None

    @cached_property
    def numbers(self) -> dict[int, int]:
        """Return the number of each experiment in the report."""
        return {experiment.pk: number for number, experiment in enumerate(self.experiments, start=1)}

    def title_of(self, experiment: Experiment) -> str:
        """Return what an experiment is called in the report."""
        return self.in_campaign(experiment.name, experiment)

    def key(self, experiment: Experiment) -> str:
        """Return what the keys of an experiment's parts end with, the same however many campaigns stand beside it."""
        position = str(experiment.position + 1)
        is_own = experiment.campaign_id == self.main.pk
        return position if is_own else f"{experiment.campaign.permanent_id}-{position}"

    def heading(self, experiment: Experiment) -> str:
        """Return the heading of an experiment's section."""
        words = {"name": self.title_of(experiment), "number": self.numbers[experiment.pk]}
        return _("%(name)s (experiment %(number)s)") % words

    def source_of(self, finding: Finding) -> str:
        """Return of which campaign a finding is, and of which day, where the report tells of several; else ""."""
        if len(self.campaigns) < 2:
            return ""
        at = since.measured_at(finding)
        return f"{finding.campaign.name}, {at:%Y-%m-%d}" if at else finding.campaign.name

    def in_campaign(self, text: str, experiment: Experiment) -> str:
        """Return a text with the name of the experiment's campaign, unless that is the report's own."""
        return text if experiment.campaign_id == self.main.pk else f"{text} ({experiment.campaign.name})"

    def tool(self, experiment: Experiment) -> Tool:
        """Return the tool of an experiment."""
        return self.tools[experiment.tool]

    def names_of(self, lane: Lane) -> list[str]:
        """Return the nodes of each role of a lane, in the order of the tool's roles, each as one short text."""
        tool = self.tools[lane.experiment.tool]
        members_by_role = [[self.nodes[pk].name for pk in lane.roles.get(role.name, ())] for role in tool.roles]
        return [patterns.compress_names(names) for names in members_by_role if names]

    def in_order(self, lane: Lane) -> list[str]:
        """Return the same of an experiment that varies nothing, who sends first."""
        experiment = lane.experiment
        return in_order(self.names_of(lane), is_back=goes_back(self.tools[experiment.tool], experiment.fixed))

    def told_in_order(self, lane: Lane) -> str:
        """Return "sender → receiver" of the same in one text."""
        return told_ends(self._roles_of(lane), self.in_order(lane))

    def ends_of(self, lane: Lane) -> str:
        """Return "client → server" of a lane; whoever plays a third role stands beside: no data goes there."""
        return told_ends(self._roles_of(lane), self.names_of(lane))

    def _roles_of(self, lane: Lane) -> list[str]:
        return [role.name for role in self.tools[lane.experiment.tool].roles if lane.roles.get(role.name)]

    def trials(self, experiment: Experiment | None = None) -> Progress:
        """Return what became of the trials, of all experiments unless one is given."""
        return self.progress[experiment.pk] if experiment else sum(self.progress.values(), Progress())

    def trial_ref(self, experiment: Experiment, position: int) -> str:
        """Return the reference of a trial without asking the database."""
        return f"trial:{experiment.campaign.permanent_id}/{experiment.position}/{position}"


def read(campaigns: Sequence[Campaign], user: User, baseline: Campaign | None = None) -> Material:
    """Return the material of campaigns, in their order."""
    place = {campaign.pk: number for number, campaign in enumerate(campaigns)}
    rows = Experiment.objects.filter(campaign__in=place).select_related("campaign", "file_system__server_cluster")
    experiments = sorted(rows, key=lambda item: (place[item.campaign_id], item.position, item.pk))
    material = Material(campaigns=campaigns, user=user, baseline=baseline, experiments=experiments)
    material.tools = {slug: toolbox.get_tool(slug) for slug in dict.fromkeys(item.tool for item in experiments)}
    by_pk = {item.pk: item for item in experiments}
    material.lanes = {item.pk: [] for item in experiments}
    for lane in Lane.objects.filter(experiment__in=by_pk).order_by("pk"):
        lane.experiment = by_pk[lane.experiment_id]
        material.lanes[lane.experiment_id].append(lane)
    _read_inventory(material)
    _read_counts(material)
    # Of nodes of other teams nobody of the report's is told how they are set.
    listed = [
        (finding if material.is_own(finding) else readers.for_others(finding), ref)
        for finding, ref in _findings(campaigns, user)
    ]
    changes = since.changes_of([finding for finding, _ref in listed], campaigns, material.tools, material.metrics)
    material.findings = [pair for pair in listed if pair[0].pk not in changes]
    material.outdated = [(*pair, changes[pair[0].pk]) for pair in listed if pair[0].pk in changes]
    material.evidence = _evidence([finding for finding, _ref in material.findings])
    material.unfinished = [item for item in analyses.standings_of(campaigns).values() if not item.is_done]
    waiting = {item.campaign.pk for item in material.unfinished}
    material.silent = untold.silent_among(campaign for campaign in campaigns if campaign.pk not in waiting)
    return material


def _read_inventory(material: Material) -> None:
    node_ids = {
        pk for lanes in material.lanes.values() for lane in lanes for ids in lane.roles.values() for pk in ids
    }
    clusters = Cluster.objects.filter(nodes__in=node_ids).distinct().order_by("name", "pk")
    systems = [item.file_system for item in material.experiments if item.file_system]
    served = {system.server_cluster_id for system in systems if system.server_cluster_id}
    clusters_in_report = Cluster.objects.filter(pk__in=[*clusters.values_list("pk", flat=True), *served])
    members = Prefetch("nodes", Node.objects.select_related("testbed__site").order_by("name"))
    material.clusters = list(clusters_in_report.prefetch_related(members).order_by("name", "pk"))
    rows = Node.objects.select_related("testbed__site").filter(pk__in=node_ids).order_by("name")
    material.nodes = {node.pk: node for node in rows}


def _read_counts(material: Material) -> None:
    carried_out = (Trial.State.SUCCEEDED, Trial.State.FAILED)
    trials = Trial.objects.filter(experiment__in=material.lanes, is_warmup=False, state__in=carried_out)
    material.progress = progress_of_experiments(material.lanes)
    span = trials.aggregate(first=Min("finished_at"), last=Max("finished_at"))
    material.period = (span["first"], span["last"])
    material.metrics = results.measured(material.experiments, material.tools)
    all_results = Result.objects.filter(experiment__in=material.lanes)
    for slug, version in (
        all_results.exclude(tool_version="").values_list("tool", "tool_version").distinct().order_by("tool")
    ):
        material.versions.setdefault(slug, []).append(version)
    for flags in all_results.filter(flags__contains=[{"severity": "invalid"}]).values_list("flags", flat=True):
        material.invalid.update({flag["name"] for flag in flags if flag["severity"] == "invalid"} - {validity.MARK})
    material.corrected = all_results.filter(edition__gt=1).count()


def _findings(campaigns: Sequence[Campaign], user: User) -> list[tuple[Finding, str]]:
    """Return what is concluded, neither dismissed nor refuted, with its reference and verifications; surest first."""
    place = {campaign.pk: number for number, campaign in enumerate(campaigns)}
    rows = (
        Finding.objects.filter(campaign__in=place)
        .exclude(state__in=(Finding.State.DISMISSED, Finding.State.REFUTED))
        .select_related("campaign", "experiment")
        .prefetch_related(
            findings.verifications_for(user),
            Prefetch(
                "trials",
                Trial.objects.select_related("experiment__campaign", "lane").order_by(
                    "experiment__position", "position"
                ),
            ),
        )
    )
    listed = list(rows)
    findings.attach_flags(listed)
    referenced = zip(listed, references.references_of(listed), strict=True)
    return sorted(referenced, key=lambda pair: (place[pair[0].campaign_id], -pair[0].confidence, pair[1]))


def _evidence(findings: Sequence[Finding]) -> dict[int, Trial]:
    """Return the first trials that findings rest on, by their ids; without asking for those that came along."""
    loaded = {trial.pk: trial for finding in findings for trial in finding.trials.all()}
    trial_ids = {pk for finding in findings for pk in finding.details.get("evidence", ())[:SHOWN_TRIALS]}
    missing = trial_ids - loaded.keys()
    others = Trial.objects.select_related("experiment__campaign").in_bulk(missing) if missing else {}
    return {pk: (loaded | others)[pk] for pk in trial_ids if pk in loaded or pk in others}
