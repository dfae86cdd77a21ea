"""What is exported: the trials for which one of some sets, as comparisons have them, holds."""

import functools
import operator
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import QueryDict

from apps.accounts.models import User
from apps.archive.search.conditions import known_to
from apps.archive.search.queries import experiments_found
from apps.archive.search.state import read_text
from apps.archive.search.unknown import unknown_values
from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Tool, Value
from apps.campaigns.models import Experiment, ExperimentRole, Lane, Trial
from apps.campaigns.queries.visibility import counted, visible
from apps.comparison.comparisons.sets import ResultSet, SetError, read_set
from apps.results import queries
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

# So many sets, and so many experiments of all of them together, one that several sets name counted for each.
MOST_SETS, MOST_NAMED = 200, 20_000
# Of so many conditions the trials are counted at once.
_AT_ONCE = 100
_NODE_PATHS = {"cluster": "clusters", "site": "testbed__site", "node": "pk"}
_FILTERS = {"campaign": "campaign", "experiment": "pk", "file-system": "file_system"}
ENDED = (Trial.State.SUCCEEDED, Trial.State.FAILED)


class SearchError(SetError):
    """A search that cannot be read."""

    field = "search"


@dataclass(frozen=True)
class ExperimentPart:
    """The ended trials of one experiment, those that `condition` holds for (None: all)."""

    experiment: Experiment
    condition: Q | None = None

    def trials(self) -> QuerySet[Trial]:
        """Return them as a query that is narrowed to the condition."""
        rows = Trial.objects.filter(experiment=self.experiment, state__in=ENDED)
        return rows if self.condition is None else _dated(rows).filter(self.condition)


@dataclass(frozen=True)
class ExportSelection:
    """The parts of a selection by tool, both in the order of campaigns, and the query of an address that means it."""

    query: str = ""
    tools: dict[str, list[ExperimentPart]] = field(default_factory=dict)

    @property
    def experiments(self) -> list[Experiment]:
        """Return every experiment, in the order of campaigns."""
        experiments = [part.experiment for parts in self.tools.values() for part in parts]
        return sorted(experiments, key=lambda item: (item.campaign_id, item.position, item.pk))

    def counts(self) -> dict[str, int]:
        """Return {tool: how many trials}."""
        return {slug: _count(parts) for slug, parts in self.tools.items()}


def read_selection(query: QueryDict, user: User) -> ExportSelection:
    """Return what of a query's sets ("set", as of a comparison) and searches ("search", as of the archive) is seen.

    SetError says what of the query cannot be read.
    """
    conditions: dict[int, list[Q | None]] = defaultdict(list)
    experiments: dict[int, Experiment] = {}
    texts, searches = ([text for text in query.getlist(name) if text.strip()] for name in ("set", "search"))
    if not texts and not searches:
        raise SetError(Message(_("Say what to export, for example %(form)s."), {"form": "set=campaign:12"}))
    if len(texts) + len(searches) > MOST_SETS:
        raise SetError(Message(_("At most %(most)s sets are exported at once."), {"most": MOST_SETS}))
    count = 0
    for result_set in map(read_set, texts):
        nodes = _nodes_of(result_set)
        mine = list(_experiments(result_set, user, nodes)[: MOST_NAMED - count + 1])
        count += len(mine)
        if count > MOST_NAMED:
            text = _("These sets name more than %(most)s experiments, some of them again and again: name fewer sets.")
            raise SetError(Message(text, {"most": MOST_NAMED}))
        lanes = _lanes_of(nodes, mine) if nodes is not None else None
        for experiment in mine:
            # What was never expanded, as a draft, has no lanes yet: none with one of the nodes.
            if lanes is not None and experiment.pk not in lanes:
                continue
            experiments[experiment.pk] = experiment
            conditions[experiment.pk].append(_condition(experiment, result_set, lanes))
    for text in searches:
        for experiment in _with_campaigns(_searched(text, user)):
            experiments[experiment.pk] = experiment
            conditions[experiment.pk].append(None)
    tools: dict[str, list[ExperimentPart]] = defaultdict(list)
    for pk in sorted(experiments, key=lambda pk: (experiments[pk].campaign_id, experiments[pk].position, pk)):
        tools[experiments[pk].tool].append(ExperimentPart(experiments[pk], _either(conditions[pk])))
    pairs = [("set", text) for text in texts] + [("search", text) for text in searches]
    return ExportSelection(urlencode(pairs), dict(tools))


def _searched(text: str, user: User) -> QuerySet[Experiment]:
    """Return the experiments that a search of the archive finds."""
    search, errors = read_text(text, known_to(user))
    for messages in (errors or unknown_values(search, user)).values():
        raise SearchError(messages[0])
    return experiments_found(search, user)


def _with_campaigns(experiments: QuerySet[Experiment]) -> QuerySet[Experiment]:
    return experiments.select_related("campaign__team", "file_system")


def _either(conditions: list[Q | None]) -> Q | None:
    """Return what holds where one of some conditions does, None if one holds always."""
    real_conditions = [condition for condition in conditions if condition is not None]
    if len(real_conditions) < len(conditions):
        return None
    whole = Q()
    for condition in real_conditions:
        whole |= condition
    return whole


def _experiments(result_set: ResultSet, user: User, nodes: set[int] | None) -> QuerySet[Experiment]:
    rows = Experiment.objects.filter(campaign__deleting_at=None)
    # As in comparisons: who names a campaign sees it where they may; of all others only what counts for them.
    is_named = any(kind in ("campaign", "experiment") for kind, _pk in result_set.numbers)
    experiments = _with_campaigns((visible if is_named else counted)(rows, user, path="campaign"))
    for kind, pk in result_set.numbers:
        if kind in _FILTERS:
            experiments = experiments.filter(**{_FILTERS[kind]: pk})
    if result_set.tool:
        experiments = experiments.filter(tool=result_set.tool)
    if nodes is None:
        return experiments
    played = ExperimentRole.objects.filter(Q(node__in=nodes) | Q(cluster__nodes__in=nodes), experiment=OuterRef("pk"))
    return experiments.filter(Exists(played))


def _nodes_of(result_set: ResultSet) -> set[int] | None:
    """Return the nodes of which one must have played a role, None if any will do."""
    sets_of_nodes = [
        set(Node.objects.filter(**{_NODE_PATHS[kind]: pk}).values_list("pk", flat=True))
        for kind, pk in result_set.numbers
        if kind in _NODE_PATHS
    ]
    return set.intersection(*sets_of_nodes) if sets_of_nodes else None


def _lanes_of(nodes: set[int], experiments: Iterable[Experiment]) -> dict[int, list[int]]:
    """Return {experiment: the lanes in which one of the nodes plays a role}."""
    lanes: dict[int, list[int]] = defaultdict(list)
    rows = Lane.objects.filter(experiment__in=[item.pk for item in experiments])
    for pk, experiment, roles in rows.values_list("pk", "experiment_id", "roles"):
        if any(node in nodes for ids in roles.values() for node in ids):
            lanes[experiment].append(pk)
    return lanes


def _condition(experiment: Experiment, result_set: ResultSet, lanes: dict[int, list[int]] | None) -> Q | None:
    """Return what a trial of an experiment must be to belong to a set, None if all do."""
    whole = Q()
    if lanes is not None:
        whole &= Q(lane__in=lanes[experiment.pk])
    if result_set.since:
        whole &= Q(moment__gte=result_set.since)
    if result_set.until:
        whole &= Q(moment__lt=result_set.until)
    if result_set.settings:
        tool = toolbox.get_tool(experiment.tool)
        for name, text in result_set.settings:
            whole &= _is(name, text, tool)
    return whole or None


def _is(name: str, text: str, tool: Tool) -> Q:
    """Return the condition that a parameter has the value that a text means."""
    if not text:
        return Q(**{"parameters__contains": {name: None}}) | ~Q(parameters__has_key=name)
    values: list[Value] = [text]
    parameter = queries.parameter_of(tool, name)
    if parameter is not None:
        try:
            values.append(parameter.clean(text))
        except units.UnitError:
            pass
    whole = Q()
    for value in values:
        whole |= Q(parameters__contains={name: value})
    return whole


def _dated(trials: QuerySet[Trial]) -> QuerySet[Trial]:
    return trials.alias(moment=Coalesce(F("finished_at"), F("updated_at")))


def _count(parts: Sequence[ExperimentPart]) -> int:
    alike: dict[Q | None, list[int]] = defaultdict(list)
    for part in parts:
        alike[part.condition].append(part.experiment.pk)
    wholes = [Q(experiment__in=pks) & (condition or Q()) for condition, pks in alike.items()]
    batches = (wholes[start : start + _AT_ONCE] for start in range(0, len(wholes), _AT_ONCE))
    ended = _dated(Trial.objects.filter(state__in=ENDED))
    return sum(ended.filter(functools.reduce(operator.or_, batch)).count() for batch in batches)
