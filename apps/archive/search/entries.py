"""What searches go through, kept up with what was measured, described and said: a tick looks for what is due."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.postgres.search import SearchVector
from django.db import connection
from django.db.models import (
    Count,
    Exists,
    F,
    Max,
    Min,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Sum,
    TextField,
    Value,
    Window,
)
from django.db.models.functions import Greatest, Length

from apps.accounts.models import User
from apps.archive.search import players
from apps.archive.search.models import SearchEntry, SearchMetric, SearchValue
from apps.bench import tools
from apps.bench.statistics import Mean
from apps.bench.sweep import likeness
from apps.bench.toolkit import right_mean
from apps.campaigns import queries
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.campaigns.models.annotations import Note
from apps.core import isolation, leases, lost_work
from apps.core.models import SetAside
from apps.results.doubts import BEARS, NO_DOUBTS
from apps.results.means import TIMED
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

INDEX_DUE = "index_due"
# While a campaign is under way its figures are looked at so often.
WHILE_OPEN = timedelta(minutes=5)
# So many experiments are done in one transaction, a second or two even if they are large.
BATCH = 20
# And no more than with so many lanes, unless one has more: looks of the timetable wait behind it.
MOST_LANES = 20_000
# A word longer than this is none: PostgreSQL takes no lexeme beyond 2 KiB.
LONGEST_WORD = 100
# PostgreSQL takes a megabyte of words, each with what it keeps of its place; the first of an entry are kept.
MOST_BYTES = 400_000
BYTES_OF_A_PLACE = 8
# A parameter's text is told by its beginning.
LONGEST_TEXT = 200
# Whatever stands between letters and digits of any script parts words.
WORDS = re.compile(r"[^\W_]+")

# The figures of each metric that count: of all, of the means of the points, either mean, and how many are flagged.
_METRICS = """
WITH points AS (
    SELECT s.experiment_id, s.metric, t.lane_id, t.point,
        count(*) n, min(s.value) low, max(s.value) high, avg(s.value) mean,
        CASE WHEN min(s.value) > 0 AND NOT bool_or({timed})
            THEN count(*) / sum(1 / nullif(s.value, 0)) ELSE avg(s.value) END harmonic,
        count(*) FILTER (WHERE {bears}) flagged
    FROM results_sample s
    JOIN campaigns_trial t ON t.id = s.trial_id
    JOIN results_result r ON r.id = s.result_id
    WHERE s.experiment_id = ANY(%(experiments)s) AND s.counts
    GROUP BY 1, 2, 3, 4
)
SELECT experiment_id, metric, sum(n), min(low), max(high), min(mean), max(mean), min(harmonic), max(harmonic),
    sum(flagged)
FROM points GROUP BY 1, 2
"""
# The distinct values of each parameter that was told.
_VALUES = """
SELECT DISTINCT t.experiment_id, p.key, jsonb_typeof(p.value), p.value #>> '{}'
FROM (SELECT DISTINCT experiment_id, parameters FROM campaigns_trial
      WHERE experiment_id = ANY(%s) AND state = 'succeeded' AND NOT is_warmup) t,
    jsonb_each(t.parameters) p
WHERE jsonb_typeof(p.value) IN ('number', 'string', 'boolean') AND p.key <> %s
"""


def due(now: datetime) -> QuerySet[Experiment]:
    """Return the experiments whose entry is missing or no longer says what is, `of` being what it should tell of."""
    described = Node.objects.filter(search_entries=OuterRef("pk")).filter(
        Q(updated_at__gt=OuterRef("search_entry__indexed_at"))
        | Q(testbed__updated_at__gt=OuterRef("search_entry__indexed_at"))
        | Q(testbed__site__updated_at__gt=OuterRef("search_entry__indexed_at"))
    )
    is_open = Q(campaign__state__in=Campaign.OPEN_STATES)
    return launched().filter(
        Q(search_entry=None)
        | ~Q(search_entry__of=F("of"))
        | is_open & Q(search_entry__indexed_at__lt=now - WHILE_OPEN)
        | Exists(described)
    )


def launched() -> QuerySet[Experiment]:
    """Return the experiments that belong in the archive, each with `of`, the last time something of it changed."""
    return Experiment.objects.filter(campaign__launched_at__isnull=False, campaign__deleting_at=None).annotate(
        of=Greatest("updated_at", "campaign__updated_at", "campaign__finished_at", "campaign__analysed_at")
    )


def index_due(*, now: datetime, limit: int = BATCH) -> int:
    """Make the entries of so many experiments that are due; return how many, `limit` if there may be more.

    One that cannot be indexed is set aside until it changes or its time comes, and keeps the entry that it has.
    """

    def index(pks: list[int]) -> None:
        # Whoever is at the same (a lease ends with its connection) passes over what this one has taken.
        claimed = due(now).select_for_update(of=("self",), no_key=True, skip_locked=True).filter(pk__in=pks)
        described = claimed.select_related("campaign__team", "campaign__created_by", "file_system")
        first_notes = Prefetch("campaign__notes", _first_notes())
        experiments = list(described.prefetch_related(first_notes, "roles__cluster").order_by("pk"))
        index_experiments(experiments, now=now)

    # One at a time: looks of the timetable never wait for a second one.
    with leases.hold(INDEX_DUE) as is_ours:
        if not is_ours:
            return 0
        lost_work.take_up(INDEX_DUE, now=now, tell=_tell)
        pks = list(due(now).filter(~set_aside(now)).order_by("pk").values_list("pk", flat=True)[:limit])
        taken = list(players.within(pks, MOST_LANES))
        failed_before = {*SetAside.objects.filter(work=INDEX_DUE, row_id__in=taken).values_list("row_id", flat=True)}
        together = [pk for pk in taken if pk not in failed_before]
        for rows in [together, *([pk] for pk in taken if pk in failed_before)]:
            with lost_work.noted(INDEX_DUE, rows, now=now):
                isolation.for_all(INDEX_DUE, rows, index, now=now, tell=_tell, filtered=True)
        return len(pks) if taken == pks else limit


def _first_notes() -> QuerySet[Note]:
    """Return of each campaign the notes that an entry has room for: all may be more than a worker's memory."""
    so_far = Window(Sum(Length("text")), partition_by="campaign", order_by=["created_at", "pk"])
    return Note.objects.annotate(so_far=so_far).filter(so_far__lte=MOST_BYTES).order_by("created_at", "pk")


def set_aside(now: datetime) -> Exists:
    """Return the condition that an experiment, as `launched` gives it, could not be indexed as it is."""
    return isolation.waiting(INDEX_DUE, now, changed="of")


def failed(user: User) -> QuerySet[Experiment]:
    """Return the experiments that the user may see and that could not be indexed as they are now."""
    rows = SetAside.objects.filter(work=INDEX_DUE).values("row_id")
    experiments = Experiment.objects.filter(pk__in=rows).select_related("campaign").order_by("pk")
    return queries.visible(experiments, user, path="campaign")


def _tell(pk: int, fault: SetAside) -> None:
    campaigns.write_fault(Experiment.objects.values_list("campaign_id", flat=True).get(pk=pk), fault)


def index_experiments(experiments: Sequence[Any], *, now: datetime) -> None:
    """Make the entries of experiments, as `launched` gives them, anew."""
    by_id = {experiment.pk: experiment for experiment in experiments}
    if not by_id:
        return
    parts = players.players_of(by_id)
    nodes = Node.objects.select_related("testbed__site").in_bulk({pk for own in parts.values() for pk in own})
    counts = _counts(by_id)
    entries = []
    for pk, experiment in by_id.items():
        words = _cut(words_of(" ".join(_texts(experiment, [nodes[node] for node in parts.get(pk, ())]))))
        entries.append(
            SearchEntry(
                experiment=experiment,
                **counts.get(pk, {}),
                words=SearchVector(Value(" ".join(words), output_field=TextField()), config="simple"),
                of=experiment.of,
                indexed_at=now,
            )
        )
    columns = [field.name for field in SearchEntry._meta.concrete_fields if not field.primary_key]
    SearchEntry.objects.bulk_create(
        entries, update_conflicts=True, unique_fields=["experiment"], update_fields=columns
    )
    players.keep_players(by_id)
    players.keep_ends({pk: _roles_of(experiment.tool) for pk, experiment in by_id.items()})
    for model in (SearchMetric, SearchValue):
        model.objects.filter(entry__in=by_id).delete()
    SearchMetric.objects.bulk_create(_metrics(by_id))
    SearchValue.objects.bulk_create(_values(by_id), batch_size=5000)


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, each once, as they are indexed and searched for."""
    return list(dict.fromkeys(word.lower()[:LONGEST_WORD] for word in WORDS.findall(text)))


def _cut(words: Sequence[str]) -> list[str]:
    """Return as many of the first words as an entry takes."""
    ends = itertools.accumulate(len(word.encode()) + BYTES_OF_A_PLACE for word in words)
    return [word for word, end in zip(words, ends, strict=True) if end <= MOST_BYTES]


def _texts(experiment: Experiment, nodes: Iterable[Node]) -> Iterable[str]:
    """Return what is searched for, names before what is long: of too many words the first are indexed."""
    campaign = experiment.campaign
    yield from (experiment.name, experiment.tool, campaign.name, campaign.team.name)
    yield from (campaign.permanent_id, *campaign.tags)
    yield from (str(text) for text in campaign.publication.values() if isinstance(text, str))
    yield _tool_name(experiment.tool)
    yield from (factor["name"] for factor in experiment.factors)
    if campaign.created_by:
        yield from (campaign.created_by.username, campaign.created_by.get_full_name())
    if experiment.file_system:
        yield from (experiment.file_system.name, experiment.file_system.get_kind_display())
    for node in nodes:
        yield from (node.name, node.testbed.name, node.testbed.site.name, node.testbed.site.place)
    yield from (part.cluster.name for part in experiment.roles.all() if part.cluster)
    yield campaign.goal
    yield from (note.text for note in campaign.notes.all())


def _tool_name(slug: str) -> str:
    try:
        return toolbox.get_tool(slug).name
    except tools.UnknownTool:
        return ""


def _roles_of(slug: str) -> list[str]:
    """Return the roles of a tool in its order, none of a tool that is gone."""
    try:
        roles = [role.name for role in toolbox.get_tool(slug).roles]
    except tools.UnknownTool:
        return []
    return roles


def _counts(experiments: Iterable[int]) -> dict[int, dict[str, Any]]:
    done = Trial.objects.filter(experiment__in=list(experiments), state=Trial.State.SUCCEEDED, is_warmup=False)
    rows: Iterable[Any] = (
        done.order_by()
        .values_list("experiment_id")
        .annotate(trials=Count("pk"), first_at=Min("finished_at"), last_at=Max("finished_at"))
    )
    return {pk: {"trials": trials, "first_at": first, "last_at": last} for pk, trials, first, last in rows}


def _metrics(experiments: Mapping[int, Experiment]) -> Iterable[SearchMetric]:
    with connection.cursor() as cursor:
        timed, bears = TIMED.format(parameters="t.parameters"), BEARS.format(flags="r.flags", metric="s.metric")
        values: dict[str, Any] = {"experiments": list(experiments), "no_doubts": list(NO_DOUBTS)}
        cursor.execute(_METRICS.format(timed=timed, bears=bears), values)
        rows = cursor.fetchall()
    for pk, name, n, low, high, low_mean, high_mean, low_harmonic, high_harmonic, flagged in rows:
        is_harmonic = _mean_of(experiments[pk].tool, name) is Mean.HARMONIC
        yield SearchMetric(
            entry_id=pk,
            name=name,
            n=n,
            low=low,
            high=high,
            low_mean=low_harmonic if is_harmonic else low_mean,
            high_mean=high_harmonic if is_harmonic else high_mean,
            flagged=flagged,
        )


def _mean_of(slug: str, name: str) -> Mean:
    """Return the mean that is right for a tool's metric; the arithmetic one of a tool or metric that is gone."""
    try:
        tool = toolbox.get_tool(slug)
    except tools.UnknownTool:
        return Mean.ARITHMETIC
    unit = next((metric.unit for metric in tool.metrics if metric.name == name), "")
    return right_mean([tool], (), unit)[0]


def _values(experiments: Iterable[int]) -> Iterable[SearchValue]:
    with connection.cursor() as cursor:
        cursor.execute(_VALUES, [list(experiments), likeness.AS_IN])
        for pk, name, kind, value in cursor.fetchall():
            if kind == "number":
                yield SearchValue(entry_id=pk, name=name, number=float(value))
            else:
                text = {"true": "yes", "false": "no"}[value] if kind == "boolean" else value
                yield SearchValue(entry_id=pk, name=name, text=text[:LONGEST_TEXT])
