"""The number of clients, or of tasks: where the aggregate saturates, still grows, or falls (rule R17)."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from apps.bench import statistics
from apps.bench.rules import shapes
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft, Proof, Proposal, Trend
from apps.bench.rules.layers.beneath import stated_rate
from apps.bench.rules.shapes import CLIENTS, TASKS, THREADS, described
from apps.bench.rules.storage.common import METRICS, TOOLS, name_of, rate, subject_of
from apps.bench.rules.storage.titles import OF_CLIENTS, OF_TASKS, ONE_SERVER
from apps.bench.text import Message, _

RULE, VERSION = "storage-clients", 1
FACTORS = (CLIENTS, THREADS, TASKS)
# A rate of this share of the network's ceiling nearly fills it.
NEARLY = 0.85
# File systems with one server, which all clients share.
OF_ONE_SERVER = ("nfs",)


class Case(NamedTuple):
    """A trend, the means where they were measured, and what the network carries for so many clients (B/s)."""

    trend: Trend
    means: Mapping[float, float]
    clients: tuple[str, ...]
    ceilings: Mapping[int, float]
    kind: str = ""
    most: float | None = None

    @property
    def ceiling(self) -> float | None:
        """Return what the network carries for all of them."""
        return max(self.ceilings.values(), default=None)


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return how each file system's aggregate goes with the number of clients or tasks."""
    found: dict[str, FindingDraft] = {}
    for factor in FACTORS:
        for trend, curve in shapes.shaped(evidence, factor=factor):
            if trend.metric not in METRICS or trend.tool not in TOOLS:
                continue
            clients = _clients(evidence, trend, curve)
            ceilings = _ceilings(evidence, trend, clients)
            facts = evidence.file_systems.get(trend.file_system)
            kind = facts.kind if facts else ""
            case = Case(
                trend,
                curve.means if curve else {},
                clients,
                ceilings,
                kind,
                None if curve else _most(evidence, trend),
            )
            draft = _draft(case)
            # Of one file system what clients show counts before what tasks do.
            found.setdefault(draft.subject, draft)
    return list(found.values())


def _draft(case: Case) -> FindingDraft:
    make = {shapes.SATURATES: _saturates, shapes.RISES: _rises, shapes.FALLS: _falls, shapes.FLAT: _flat}
    return make[case.trend.shape](case)


def _saturates(case: Case) -> FindingDraft:
    trend, knee = case.trend, case.trend.knee or 1
    why = _figures(case)
    here, further = case.ceilings.get(int(knee)), case.ceilings.get(int(knee) + 1)
    if trend.factor == CLIENTS and here and further and further > 1.01 * here:
        text = _(
            "The network carries %(here)s for %(count)s clients and %(further)s for one more: it would let the rate"
            " grow, so the servers are what is full."
        )
        why.append(Message(text, {"here": rate(here), "further": rate(further), "count": f"{knee:g}"}))
    elif trend.best and case.ceiling and trend.best >= NEARLY * case.ceiling:
        text = _("That is %(share)s %% of the %(ceiling)s that the network carries: it is full.")
        why.append(Message(text, {"share": f"{100 * trend.best / case.ceiling:.0f}", "ceiling": rate(case.ceiling)}))
    return _make(
        case,
        kind=DIAGNOSIS,
        count=knee,
        why=why,
        formula=f"X(N) = min(a N, C), N = {knee:g}",
        limits=(_("More than that share the same rate, and each gets less."),),
    )


def _rises(case: Case) -> FindingDraft:
    best = case.trend.best
    why = _figures(case)
    enough = None
    most = max(case.means, default=case.most)
    apiece = best / most if best and most else None
    if apiece and best and case.ceiling:
        enough = math.ceil(case.ceiling / apiece)
        share = best / case.ceiling
        text = _(
            "%(best)s is %(share)s %% of the %(ceiling)s that the network carries; at %(apiece)s each"
            " %(enough)s fill it."
        )
        if share >= NEARLY:
            text = _("%(best)s is %(share)s %% of the %(ceiling)s that the network carries: nearly all of it.")
        shown = {
            "best": rate(best),
            "share": f"{100 * share:.0f}",
            "ceiling": rate(case.ceiling),
            "apiece": rate(apiece),
            "enough": enough,
        }
        why.append(Message(text, shown))
    text = _("It serves applications well in which many nodes do I/O, and poorly those in which few do.")
    why.append(Message(text))
    first = min(case.means, default=None)
    return _make(
        case,
        kind=RECOMMENDATION,
        count=float(enough or most or 0) or None,
        why=why,
        formula=f"N = C / (X / N) = {rate(case.ceiling)} / {rate(apiece)}" if apiece and case.ceiling else "X(N) ~ N",
        limits=(_("Beyond the measured range growth is assumed, until the network or the servers are full."),),
        present=case.means[first] if first is not None else None,
        predicted=best if first is not None else None,
        now_then=(first, most) if first is not None and most else None,
        growing=True,
    )


def _falls(case: Case) -> FindingDraft:
    trend, why = case.trend, _figures(case)
    laws = (
        statistics.fit_scaling(*zip(*case.means.items(), strict=True))
        if len(case.means) > 2 and min(case.means.values()) > 0 and min(case.means) >= 1
        else ()
    )
    law = next((item for item in laws if item.peak is not None and item.error < 0.15), None)
    if law:
        text = _(
            "By the Universal Scalability Law each further one costs the others (k = %(k)s); the most is at %(peak)s."
        )
        why.append(Message(text, {"k": f"{law.k:.3g}", "peak": f"{law.peak:.1f}"}))
    of_one = case.kind in OF_ONE_SERVER
    if of_one:
        why.append(Message(_("All clients share its one server; a parallel file system has several.")))
    return _make(
        case,
        kind=DIAGNOSIS,
        shape=ONE_SERVER if of_one else "",
        count=trend.knee,
        why=why,
        formula="X(N) < X(N - 1)",
        limits=(_("Random or shared access may fall where files of one's own do not: the pattern counts."),),
    )


def _flat(case: Case) -> FindingDraft:
    first = min(case.means, default=1.0)
    return _make(
        case,
        kind=NO_CHANGE,
        count=first,
        why=_figures(case),
        formula="max X <= 1.05 · min X",
        limits=(_("Each gets its share only: the aggregate is the same."),),
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
    present: float | None = None,
    predicted: float | None = None,
    now_then: tuple[float, float] | None = None,
    growing: bool = False,
) -> FindingDraft:
    trend = case.trend
    tool = TOOLS[trend.tool]
    parameter = tool.threads if trend.factor in (THREADS, TASKS) else CLIENTS
    shown = {
        "name": name_of(trend),
        "metric": trend.metric,
        "count": f"{count:g}" if count else "?",
    }
    fixed = {key: value for key, value in trend.fixed.items() if key in tool.kept and key != parameter}
    more = Proposal(trend.tool, fixed, {parameter: "1, 2, 4, 8, 12, 16"}, {"client": case.clients}, trend.file_system)
    can_prove = now_then is not None and trend.factor != TASKS and predicted is not None
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=kind,
        subject=subject_of(trend, *(("tasks",) if trend.factor != CLIENTS else ())),
        title=Message((OF_CLIENTS if trend.factor == CLIENTS else OF_TASKS)[shape or trend.shape], shown),
        why=tuple(why) or (Message(_("So it is printed; the figures are not.")),),
        value=count,
        unit="count" if count else "",
        formula=formula,
        evidence=trend.trials,
        present=present,
        predicted=predicted,
        predicted_unit="B/s",
        confidence=0.85 if case.means and len(trend.trials) > len(case.means) else 0.65,
        applies_when=Message(_("Each task reads or writes a file of its own, in order.")),
        limits=tuple(Message(limit) for limit in limits),
        source="Global file system over a WAN (KISTI, PNU); Gunther, Guerrilla Capacity Planning, 2007",
        missing=(Message(_("More of them: the rate still grew at the most tried.")),) if growing else (),
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


def _figures(case: Case) -> list[Message]:
    if not case.means:
        if not case.trend.best:
            return []
        return [Message(_("The best rate printed is %(best)s."), {"best": rate(case.trend.best)})]
    shown = ", ".join(f"{count:g}: {rate(value)}" for count, value in case.means.items())
    return [Message(_("Measured in all, by number: %(figures)s."), {"figures": shown})]


def _clients(evidence: Evidence, trend: Trend, curve: shapes.Curve | None) -> tuple[str, ...]:
    """Return the clients of a trend: those of its points, or those with a path to the file system's servers."""
    if curve:
        return curve.roles.get("client", ()) or curve.roles.get("node", ())
    facts = evidence.file_systems.get(trend.file_system)
    servers = set(facts.servers) if facts else set()
    named = [p for p in evidence.points if p.file_system == trend.file_system and p.roles.get("client")]
    if named:
        return max((point.roles["client"] for point in named), key=len)
    ends = [
        one if other in servers else other for one, other in evidence.paths if (one in servers) != (other in servers)
    ]
    return tuple(dict.fromkeys(ends))


def _most(evidence: Evidence, trend: Trend) -> float | None:
    """Return the largest number for which a figure of the file system stands beside a printed trend."""
    known = [
        described(point, evidence).get(trend.factor)
        for point in evidence.points
        if point.file_system == trend.file_system and point.values(trend.metric)
    ]
    return max((float(count) for count in known if count), default=trend.knee)


def _ceilings(evidence: Evidence, trend: Trend, clients: tuple[str, ...]) -> dict[int, float]:
    """Return what the network carries (B/s) for one client, for two, and so on."""
    facts = evidence.file_systems.get(trend.file_system)
    if not facts or not facts.servers:
        return {}
    found = {count: stated_rate(evidence, clients[:count], facts.servers) for count in range(1, len(clients) + 1)}
    return {count: value for count, value in found.items() if value}
