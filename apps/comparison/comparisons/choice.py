"""The first step: what the sets of an address are for a user: experiments, tools, metrics and titles."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import Team, User
from apps.bench.toolkit import Metric, Tool
from apps.campaigns.models import Campaign, Experiment, ExperimentRole, Trial
from apps.campaigns.queries.visibility import counted, visible
from apps.comparison.comparisons.sets import ResultSet
from apps.comparison.comparisons.state import ComparisonState
from apps.core import moments
from apps.results import queries
from apps.testbeds.models import Cluster, Node, Site
from apps.toolbox import queries as toolbox

# Of an experiment the newest trials up to this many are looked at; of a set's experiments the newest, up to that many
# trials together and so many of them.
MOST_TRIALS = 30_000
MOST_TOGETHER = 8_000
MOST_EXPERIMENTS = 500
_NODE_PATHS = {"cluster": "clusters", "site": "testbed__site", "node": "pk"}


@dataclass(frozen=True)
class SetScope:
    """What a set stands for: its experiments, and the nodes of which one must have played a role (None: any).

    `cut` counts the trials of older experiments that are left out because there are too many.
    """

    result_set: ResultSet
    experiments: Mapping[int, Experiment]
    nodes: frozenset[int] | None
    cut: int = 0


@dataclass(frozen=True)
class SetChoice:
    """What a state chooses of all that the user may see: a scope and a title for each set, and all their experiments.

    `metrics` are those of the tools, of which `metric` is shown (None: there is none). `foreign` has the names of
    teams that the user is no member of: they stand beside their nodes. With a `team` agents' facts are of its nodes.
    """

    state: ComparisonState
    user: User
    scopes: tuple[SetScope, ...]
    titles: tuple[str, ...]
    experiments: Mapping[int, Experiment]
    tools: Mapping[str, Tool]
    metrics: tuple[Metric, ...]
    metric: Metric | None
    foreign: Mapping[int, str]
    team: Team | None = None

    def named(self, thing: Campaign | Node) -> str:
        """Return the name of a campaign or node, with its team's if that is foreign to the user."""
        team = self.foreign.get(thing.team_id)
        return f"{thing} ({team})" if team else str(thing)


def choose(state: ComparisonState, user: User, team: Team | None = None) -> SetChoice:
    """Return what each set stands for of all that the user may see; the newest experiments of large ones.

    What is made for a `team`, whose members all read it, holds facts of its own nodes only.
    """
    nodes = _nodes_by_kind(state.sets)
    scopes = tuple(_scope(item, user, nodes) for item in state.sets)
    experiments = {pk: item for scope in scopes for pk, item in scope.experiments.items()}
    tools = {slug: toolbox.get_tool(slug) for slug in dict.fromkeys(item.tool for item in experiments.values())}
    metrics = _metrics(scopes, tools)
    return SetChoice(
        state=state,
        user=user,
        scopes=scopes,
        titles=_titles(scopes),
        experiments=experiments,
        tools=tools,
        metrics=metrics,
        metric=next((item for item in metrics if item.name == state.metric), metrics[0] if metrics else None),
        foreign=rights.foreign_names(user, {item.campaign.team_id for item in experiments.values()}),
        team=team,
    )


def _scope(result_set: ResultSet, user: User, by_kind: dict[tuple[str, int], set[int]]) -> SetScope:
    # Who names a campaign sees it where they may; of all others only what counts for them.
    is_named = any(kind in ("campaign", "experiment") for kind, _pk in result_set.numbers)
    experiments = (visible if is_named else counted)(
        Experiment.objects.filter(campaign__deleting_at=None), user, path="campaign"
    ).select_related("campaign", "file_system")
    filters = {"campaign": "campaign", "experiment": "pk", "file-system": "file_system"}
    for kind, pk in result_set.numbers:
        if kind in filters:
            experiments = experiments.filter(**{filters[kind]: pk})
    if result_set.tool:
        experiments = experiments.filter(tool=result_set.tool)
    if result_set.since:
        experiments = experiments.exclude(campaign__finished_at__lt=result_set.since)
    if result_set.until:
        # What was published or imported is older than the day on which it came here.
        experiments = experiments.exclude(campaign__launched_at__gte=result_set.until, campaign__origin="measured")
    node_sets = [by_kind.get((kind, pk), set()) for kind, pk in result_set.numbers if kind in _NODE_PATHS]
    nodes = set.intersection(*node_sets) if node_sets else None
    if nodes is not None:
        played = ExperimentRole.objects.filter(
            Q(node__in=nodes) | Q(cluster__nodes__in=nodes), experiment=OuterRef("pk")
        )
        experiments = experiments.filter(Exists(played))
    chosen: dict[int, Experiment] = {}
    cut = total = 0
    for experiment in _newest(experiments):
        size = experiment.size or 0
        if chosen and total + size > min(MOST_TOGETHER, MOST_TRIALS):
            cut += size
            continue
        chosen[experiment.pk] = experiment
        total += size
        cut += max(0, size - MOST_TRIALS)
    return SetScope(result_set, chosen, frozenset(nodes) if nodes is not None else None, cut)


def _newest(experiments: QuerySet[Experiment]) -> Iterable[Any]:
    """Return the newest experiments with their `size`, how many trials each has; an index tells it at once."""
    last = Trial.objects.filter(experiment=OuterRef("pk")).order_by("-position").values("position")[:1]
    return experiments.annotate(size=Subquery(last) + 1).order_by("-pk")[:MOST_EXPERIMENTS]


def _nodes_by_kind(result_sets: Sequence[ResultSet]) -> dict[tuple[str, int], set[int]]:
    """Return the nodes of every cluster, site and node that sets name, {(kind, id): ids of nodes}."""
    nodes: dict[tuple[str, int], set[int]] = defaultdict(set)
    for kind, path in _NODE_PATHS.items():
        part_ids = {pk for item in result_sets if (pk := dict(item.numbers).get(kind)) is not None}
        if part_ids:
            for whole, node in Node.objects.filter(**{f"{path}__in": part_ids}).values_list(path, "pk"):
                nodes[kind, whole].add(node)
    return nodes


def _metrics(scopes: Sequence[SetScope], tools: Mapping[str, Tool]) -> tuple[Metric, ...]:
    """Return the metrics of the sets' tools: first those that the most sets have figures of, or could have.

    Of these the primary ones come first, of these the most swept.
    """
    metrics_of = queries.measured((item for scope in scopes for item in scope.experiments.values()), tools)
    had: dict[str, set[int]] = defaultdict(set)
    sets: dict[str, set[int]] = defaultdict(set)
    swept: dict[str, int] = defaultdict(int)
    metrics: dict[str, Metric] = {}
    for place, scope in enumerate(scopes):
        for experiment in scope.experiments.values():
            for metric in metrics_of[experiment.pk]:
                had[metric.name].add(place)
            for metric in tools[experiment.tool].metrics:
                sets[metric.name].add(place)
                swept[metric.name] += bool(experiment.factors)
                metrics.setdefault(metric.name, metric)
    ranks = {name: (-len(had[name]), -len(sets[name]), not metrics[name].primary, -swept[name]) for name in metrics}
    return tuple(sorted(metrics.values(), key=lambda metric: ranks[metric.name]))


def _titles(scopes: Sequence[SetScope]) -> tuple[str, ...]:
    """Return a title for each set; those that would be the same are numbered."""
    names = _names(scopes)
    bare_titles = [scope.result_set.label or _title(scope, names) for scope in scopes]
    often, counts, titles = Counter(bare_titles), Counter[str](), []
    for title in bare_titles:
        counts[title] += 1
        titles.append(f"{title} ({counts[title]})" if often[title] > 1 else title)
    return tuple(titles)


def _names(scopes: Sequence[SetScope]) -> dict[tuple[str, int], str]:
    """Return the names of the parts of the inventory that sets are chosen by, which the user's experiments use."""
    names: dict[tuple[str, int], str] = {}
    for kind, model in (("cluster", Cluster), ("site", Site), ("node", Node)):
        teams = {item.campaign.team_id for scope in scopes for item in scope.experiments.values()}
        part_ids = [pk for scope in scopes if (pk := scope.result_set.number(kind)) is not None]
        if part_ids:
            rows = model.objects.filter(pk__in=part_ids, team__in=teams).values_list("pk", "name")
            names |= {(kind, pk): name for pk, name in rows}
    return names


def _title(scope: SetScope, names: dict[tuple[str, int], str]) -> str:
    result_set = scope.result_set
    one = next(iter(scope.experiments.values()), None)
    parts = []
    for kind, pk in result_set.numbers:
        if one and kind == "campaign":
            parts.append(one.campaign.name)
        elif one and kind == "experiment":
            parts.append(one.name if result_set.number("campaign") else f"{one.campaign.name}: {one.name}")
        elif one and kind == "file-system" and one.file_system:
            parts.append(one.file_system.name)
        else:
            parts.append(names.get((kind, pk), f"{kind} {pk}"))
    parts += [result_set.tool] if result_set.tool else []
    parts += [f"{name} = {value}" for name, value in result_set.settings]
    if result_set.since:
        parts.append(_("from %(date)s") % {"date": f"{moments.local(result_set.since):%Y-%m-%d}"})
    if result_set.until:
        parts.append(_("before %(date)s") % {"date": f"{moments.local(result_set.until):%Y-%m-%d}"})
    return ", ".join(parts)
