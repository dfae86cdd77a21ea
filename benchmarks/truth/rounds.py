"""World after world: stored, asked, judged, and forgotten."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import connection, transaction
from django.utils import timezone

from apps.accounts.models import Membership, Role, Team, User
from benchmarks.truth import figures, panels, statements, store
from benchmarks.truth.judging import contradictions, missed
from benchmarks.truth.judging.base import Judgement
from benchmarks.truth.judging.coverage import Interval, of_contrasts, of_means, of_predictions
from benchmarks.truth.judging.judge import judge
from benchmarks.truth.statements import Statement
from benchmarks.truth.worlds.base import World

# After so many worlds the rows that were taken back are swept out of these tables.
SWEEP = 20
FILLED = (
    "campaigns_trial", "campaigns_run", "results_result", "results_sample", "tuning_finding", "tuning_finding_trials",
)  # fmt: skip


@dataclass(frozen=True)
class Heard:
    """What was said of a world, each with its judgement.

    `contradictions` are (name, what); `expected` (conclusion, whether it was drawn); `intervals` those printed.
    """

    world: World
    said: tuple[tuple[Statement, Judgement], ...]
    failure: str = ""
    contradictions: tuple[tuple[str, str], ...] = ()
    expected: tuple[tuple[str, bool], ...] = ()
    intervals: tuple[Interval, ...] = ()


def hear(world: World) -> Heard:
    """Return what the product says of a world, judged; nothing of it stays in the database."""
    with transaction.atomic():
        try:
            return _hear(world)
        finally:
            transaction.set_rollback(True)


def _hear(world: World) -> Heard:
    now = timezone.now()
    team = Team.objects.create(name="Oracle", slug="oracle")
    user = User.objects.create(username="oracle")
    Membership.objects.create(team=team, user=user, role=Role.MANAGER)
    stored = store.store(world, team, now)
    try:
        heard = list(statements.findings(stored, now))
    except statements.RuleFailed as error:
        return Heard(world, (), str(error))
    findings = list(heard)
    heard += panels.of_udp(stored)
    if world.family == "storage":
        # The same findings stand on the campaign's page: only what is said otherwise counts again.
        known = [(item.rule, item.subject, item.fields["title"], item.fields["value"]) for item in findings]
        heard += (
            item
            for item in panels.of_layers(stored)
            if (item.rule, item.subject, item.fields["title"], item.fields["value"]) not in known
        )
    heard += panels.predictions(stored, world.family)
    drawn = list(figures.comparisons(stored, user))
    for item in drawn:
        heard += [*figures.sentences_of(item), *figures.contrasts_of(item)]
    heard += figures.beside_each_other(stored, user)
    return Heard(
        world,
        tuple((item, judge(world, stored, item)) for item in heard),
        contradictions=tuple(contradictions.between(world, heard)),
        expected=tuple(missed.expected(world, findings)),
        intervals=(*of_means(world, drawn), *of_contrasts(heard), *of_predictions(world, heard)),
    )


def hear_all(worlds: Iterable[World]) -> Iterator[Heard]:
    """Yield what is said of each world; outside of a transaction."""
    with connection.cursor() as cursor:
        # Statistics of tables that are always empty again lead the planner to read them whole for each row.
        cursor.execute("SET enable_seqscan = off")
    for place, world in enumerate(worlds):
        if place % SWEEP == 0:
            with connection.cursor() as cursor:
                cursor.execute(f"VACUUM {', '.join(FILLED)}")
        yield hear(world)
