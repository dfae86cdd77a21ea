"""The number of clients, or of tasks: where the aggregate saturates, still grows, or falls."""

from collections.abc import Sequence

from apps.bench.rules import shapes
from apps.bench.rules.base import (
    DIAGNOSIS,
    NO_CHANGE,
    RECOMMENDATION,
    Evidence,
    FindingDraft,
    Proof,
    Proposal,
    of_files,
)
from apps.bench.rules.layers.fullness import ROOM
from apps.bench.rules.layers.links import OF_ONE_SERVER
from apps.bench.rules.layers.verdicts import Verdict, cached_in
from apps.bench.rules.shapes import CLIENTS, EQUAL, TASKS, THREADS, way_of
from apps.bench.rules.storage import growth, memory
from apps.bench.rules.storage.beside import with_other_metrics
from apps.bench.rules.storage.common import (
    METRICS,
    TOOLS,
    are_shared,
    is_in_order,
    is_poor,
    name_of,
    rate,
    subject_of,
)
from apps.bench.rules.storage.differing import with_other_counts
from apps.bench.rules.storage.growth import Case
from apps.bench.rules.storage.titles import (
    LEVEL,
    NEARLY,
    OF_CLIENTS,
    OF_TASKS,
    ONE_SERVER,
    PEAK,
    PEAK_ONE_SERVER,
    USED,
)
from apps.bench.text import Message, _

RULE, VERSION = "storage-clients", 14
FACTORS = (CLIENTS, THREADS, TASKS)


def conclude(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return how each file system's aggregate goes with clients or tasks, not of what a cache gave."""
    drafts: dict[str, FindingDraft] = {}
    cases: dict[str, list[tuple[Case, shapes.Curve | None]]] = {}
    cached = cached_in(verdicts)
    for factor in FACTORS:
        for trend, curve in [*shapes.shaped(evidence, factor=factor), *shapes.scattered(evidence, factor=factor)]:
            if trend.metric not in METRICS or trend.tool not in TOOLS:
                continue
            if factor == TASKS and curve and curve.is_one_each:
                # One task on each: it is the clients that were varied.
                continue
            case = growth.case_of(evidence, verdicts, trend, curve)
            if cached & {*trend.trials} or growth.is_of_cache(case):
                continue
            same = [own for group in cases.values() for (own, *_), _curve in group if own.metric == trend.metric]
            if factor != CLIENTS and curve and any({*trend.trials} <= {*own.trials} for own in same):
                # One task on each client: the same figures have been told of clients.
                continue
            draft = memory.with_doubt(growth.with_scatter(_draft(case), curve), curve)
            # Of one file system what clients show counts before what tasks do.
            drafts.setdefault(draft.subject, draft)
            cases.setdefault(draft.subject, []).append((case, curve))
    own = [with_other_counts(draft, cases[subject]) for subject, draft in drafts.items()]
    return with_other_metrics(own, [cases[subject][0][0].trend for subject in drafts])


def _draft(case: Case) -> FindingDraft:
    make = {
        shapes.SATURATES: _saturates,
        shapes.RISES: _rises,
        shapes.FALLS: _falls,
        shapes.FLAT: _flat,
        shapes.UNCLEAR: _unclear,
    }
    return make[case.trend.shape](case)


def _saturates(case: Case) -> FindingDraft:
    trend, knee = case.trend, case.trend.knee or 1
    reasons = growth.figures(case)
    here, further = case.ceilings.get(int(knee)), case.ceilings.get(int(knee) + 1)
    if trend.factor == CLIENTS and here and further and further > 1.01 * max(here, (trend.best or 0.0) / ROOM):
        text = _(
            "The network carries %(here)s for %(count)s clients and %(further)s for one more: it would let the rate"
            " grow, so the servers are what is full."
        )
        reasons.append(Message(text, {"here": rate(here), "further": rate(further), "count": f"{knee:g}"}))
    elif growth.fills(trend.best, case.ceiling):
        text = _("That is %(share)s %% of the %(ceiling)s that the network carries: it is full.")
        if case.is_undecided:
            text = _("That is %(share)s %% of the %(ceiling)s that the network carries: it may be what is full.")
        reasons.append(Message(text, growth.share_of(trend.best, case.ceiling)))
    return _make(
        case,
        kind=DIAGNOSIS,
        count=knee,
        why=reasons,
        formula=f"X(N) = min(a N, C), N = {knee:g}",
        limits=(_("More than that share the same rate, and each gets less."),),
    )


def _rises(case: Case) -> FindingDraft:
    best, reasons = case.trend.best, growth.figures(case)
    max_count, first = max(case.means, default=case.max_count), min(case.means, default=None)
    full = growth.full(case)
    if full:
        return _make(
            case,
            kind=DIAGNOSIS,
            shape=NEARLY,
            count=float(max_count or 0) or None,
            why=[*reasons, *full, *_poorly_alone(case)],
            formula="X(N) >= 0.85 · C",
            limits=(_("As far as the links are described, and the disks measured, as they are."),),
        )
    if doubt := growth.doubt_of(case):
        return _unclear(case, doubt)
    if text := growth.of_network(case, best / max_count if best and max_count else None):
        reasons.append(text)
    reasons += _poorly_alone(case)
    # Of growth that is less than in proportion no law is told.
    is_alike = first is None or not max_count or case.means[max_count] >= ROOM * case.means[first] * max_count / first
    return _make(
        case,
        kind=RECOMMENDATION,
        count=float(max_count or 0) or None,
        why=reasons,
        formula="X(N) ~ N" if is_alike else "X(N) > X(1)",
        limits=(_("Beyond the measured range growth is assumed, until the network or the servers are full."),),
        tried=case.means[first] if first is not None else None,
        predicted=best if first is not None else None,
        now_then=(first, max_count) if first is not None and max_count else None,
        growing=True,
    )


def _poorly_alone(case: Case) -> list[Message]:
    """Return that few are served poorly: not where they have most of all, or of what the network carries for them.

    Where nobody knows what it carries for so few, nobody knows whether a file system could serve them better.
    """
    if not _is_of_nodes(case):
        return []
    if case.means and not is_poor(case.means[min(case.means)], max(case.means.values()), case.own):
        return []
    text = _("It serves applications well in which many nodes do I/O, and poorly those in which few do (%(way)s).")
    return [Message(text, {"way": way_of(case.trend)})]


def _is_of_nodes(case: Case) -> bool:
    """Return whether it was nodes that were varied, as a publication may mean by tasks: not tasks of one client."""
    is_printed = case.trend.factor == TASKS and not case.means
    return (case.trend.factor == CLIENTS or is_printed) and len(case.clients) != 1


def _falls(case: Case) -> FindingDraft:
    trend, reasons = case.trend, growth.figures(case)
    # Of several that are as high the last one: those beyond it are in each other's way.
    knee = max(
        (at for at, own in case.means.items() if own > max(case.means.values()) / (1 + EQUAL)), default=trend.knee
    )
    reasons += growth.law_of(case)
    of_one = case.kind in OF_ONE_SERVER and _is_of_nodes(case)
    if of_one:
        reasons.append(Message(_("All clients share its one server; a parallel file system has several.")))
    return _make(
        case,
        kind=DIAGNOSIS,
        shape=_shape_of_fall(case, of_one=of_one),
        count=knee,
        why=reasons,
        formula="X(N) < X(N - 1)",
        limits=(_("Random or shared access may fall where files of one's own do not: the pattern counts."),),
    )


def _shape_of_fall(case: Case, *, of_one: bool) -> str:
    """Return whether each number surely has no more than those before it, or only those beyond the best have less."""
    values = list(case.means.values())
    falls = all(after <= (1 + EQUAL) * before for place, before in enumerate(values) for after in values[place:])
    if falls:
        return ONE_SERVER if of_one else shapes.FALLS
    return PEAK_ONE_SERVER if of_one else PEAK


def _flat(case: Case) -> FindingDraft:
    first = min(case.means, default=1.0)
    return _make(
        case,
        kind=NO_CHANGE,
        # Of what was measured the title says how far it went, of what is printed nobody knows.
        shape=LEVEL if case.means else shapes.FLAT,
        count=first,
        why=growth.figures(case),
        formula="max X <= 1.05 · min X",
        limits=(_("Each gets its share only: the aggregate is the same."),),
    )


_SCATTER = _("The last figures lie too near each other, and scatter too far, to tell a plateau from growth.")


def _unclear(case: Case, limit: str = _SCATTER) -> FindingDraft:
    return _make(
        case,
        kind=DIAGNOSIS,
        shape=shapes.UNCLEAR,
        count=None,
        why=growth.figures(case),
        formula="X(N) > X(1)",
        limits=(limit,),
        growing=True,
    )


def _make(
    case: Case,
    *,
    kind: str,
    shape: str = "",
    count: float | None,
    why: list[Message],
    formula: str,
    limits: tuple[str, ...],
    tried: float | None = None,
    predicted: float | None = None,
    now_then: tuple[float, float] | None = None,
    growing: bool = False,
) -> FindingDraft:
    trend = case.trend
    tool = TOOLS[trend.tool]
    parameter = tool.threads if trend.factor in (THREADS, TASKS) else CLIENTS
    params = {
        "name": name_of(trend),
        "metric": trend.metric,
        "way": way_of(trend),
        "count": f"{count:g}" if count else "?",
    }
    if case.means:
        params |= {"least": f"{min(case.means):g}", "most": f"{max(case.means):g}"}
    fixed = {key: value for key, value in trend.fixed.items() if key in tool.fixed and key != parameter}
    more = Proposal(trend.tool, fixed, {parameter: "1, 2, 4, 8, 12, 16"}, {"client": case.clients}, trend.file_system)
    can_prove = now_then is not None and trend.factor != TASKS and predicted is not None
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        # Nobody knows how many an application has: more of them is what was tried, and no change to make.
        kind=DIAGNOSIS if tried is not None else kind,
        subject=subject_of(trend, *(("tasks",) if trend.factor != CLIENTS else ())),
        title=Message((OF_CLIENTS if trend.factor == CLIENTS else OF_TASKS)[shape or trend.shape], params),
        why=tuple(why) or (Message(_("So it is printed; the figures are not.")),),
        value=count,
        unit="count" if count else "",
        formula=formula,
        question=of_files(trend.file_system),
        evidence=trend.trials,
        is_comparison=tried is not None,
        tried=tried,
        predicted=predicted,
        predicted_interval=case.interval if predicted else None,
        predicted_unit="B/s",
        confidence=0.85 if case.means and len(trend.trials) > len(case.means) else 0.65,
        applies_when=Message(USED[are_shared(trend), is_in_order(trend)]),
        limits=(
            *(Message(limit) for limit in limits),
            *(shapes.unmeasured_before(count, case.means) if trend.shape == shapes.SATURATES else ()),
        ),
        source="Global file system over a WAN (KISTI, PNU); Gunther, Guerrilla Capacity Planning, 2007",
        missing=(Message(_("More of them, and three repetitions or more of each.")),) if growing else (),
        proposals=(more,) if growing else (),
        proof=Proof(
            trend.tool,
            trend.metric,
            {**fixed, parameter: int(now_then[0])},
            {**fixed, parameter: int(now_then[1])},
            trend.file_system,
        )
        if can_prove and now_then
        else None,
    )
