"""What a client of GPFS must be allowed for the rate that network and disks give: maxMBpS and pagepool."""

import math
from collections.abc import Mapping, Sequence

from apps.bench.rules.base import FILE_SYSTEM, RECOMMENDATION, Evidence, FindingDraft, of_files
from apps.bench.rules.layers.beneath import rtt_of
from apps.bench.rules.layers.flows import number_of
from apps.bench.rules.layers.verdicts import Verdict
from apps.bench.rules.storage import allowed
from apps.bench.rules.storage.common import rate
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "storage-gpfs-client", 5
RATE, POOL = "maxMBpS", "pagepool"
# The daemon derives from maxMBpS how much it reads ahead and writes behind: it is to be twice the rate wanted.
TWICE = 2
# What maxMBpS counts in.
MB = 1e6


def conclude(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return, of each GPFS that is itself the limit, what its clients must be allowed; None where they surely are."""
    drafts: dict[str, FindingDraft] = {}
    for verdict in verdicts:
        facts = verdict.question.facts
        if facts.kind != "gpfs" or verdict.layer != FILE_SYSTEM or verdict.level in verdict.cached:
            continue
        draft = _draft(evidence, verdict, allowed.most_either_way(evidence, verdicts, verdict))
        if draft and (facts.name not in drafts or (draft.value or 0) > (drafts[facts.name].value or 0)):
            drafts[facts.name] = draft
    return list(drafts.values())


def _draft(evidence: Evidence, verdict: Verdict, most: allowed.Most) -> FindingDraft | None:
    """Return the advice; None where one client had nearly as much, in writing or reading, as it is to be allowed."""
    facts, level = verdict.question.facts, verdict.level
    beneath = [layer.least for layer in (verdict.network, verdict.disk) if layer]
    if not beneath:
        return None
    client_rate = min(beneath) / max(len(level.clients), 1)
    if most.value >= allowed.ENOUGH * client_rate:
        return None
    requirements = {RATE: math.ceil(TWICE * client_rate / MB)}
    rtt, block = rtt_of(evidence, verdict.question), facts.block_size_bytes
    if rtt and block:
        # Each task has the blocks of a round trip under way, and one that it works on.
        tasks = max(level.tasks // max(len(level.clients), 1), 1)
        requirements[POOL] = tasks * (math.ceil(client_rate * rtt / block) + 1) * block
    present = {name: number_of(facts.options.get(name)) for name in requirements}
    short = {name: value for name, value in requirements.items() if (present[name] or 0) < value}
    settings = {name: value for name, value in present.items() if value is not None}
    if not short:
        return None
    # What is not known may be larger: a line that sets it could lower it.
    raised = {name: value for name, value in short.items() if name in settings}
    params = {
        "name": facts.name,
        "wanted": rate(client_rate),
        "present": rate(level.value),
        "count": max(len(level.clients), 1),
        "settings": ", ".join(f"{name} {_text(name, value)}" for name, value in (raised or short).items()),
        "now": ", ".join(f"{name} {_text(name, value)}" for name, value in settings.items()),
    }
    text = _("See that each client of %(name)s is allowed its %(wanted)s: at least %(settings)s")
    if raised:
        text = _("Each client of %(name)s is not allowed its %(wanted)s: set %(settings)s")
    given = _(
        "Network and disks give each client %(wanted)s; %(name)s gives %(present)s in all with %(count)s of them."
    )
    if verdict.described:
        given = _(
            "Network and disks are described to give each client %(wanted)s; %(name)s gives %(present)s in all with"
            " %(count)s of them."
        )
    reasons = [
        Message(given, params),
        Message(_("The daemon reads ahead and writes behind as much as maxMBpS tells it: twice the rate wanted.")),
    ]
    if settings:
        reasons.append(Message(_("The client tells %(now)s."), params))
    against = allowed.against(verdict, most.value, most.way)
    confidence = 0.6 if raised else 0.35
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION,
        question=of_files(facts.name),
        subject=facts.name[:200],
        title=Message(text, params),
        why=tuple(reasons),
        value=requirements[RATE] * MB,
        unit="B/s",
        formula=_formula(requirements, client_rate, rtt, block),
        evidence=level.trials,
        change=_line(raised),
        undo=_line({name: settings[name] for name in raised}),
        present=level.value,
        predicted_unit="B/s",
        against=against,
        confidence=min(confidence, allowed.DOUBTED) if against else confidence,
        applies_when=Message(_("The file system itself is the limit: neither the network nor the disks are full.")),
        limits=(
            Message(_("How much it gains is not known before it is measured.")),
            Message(_("A larger page pool also keeps more of small test files: use files larger than it.")),
        ),
        side_effects=(
            Message(_("The page pool is memory that programs of the client no longer have.")),
            Message(_("A change of the page pool takes effect when the daemon starts again.")),
        ),
        source="IBM Storage Scale, parameters for performance tuning: maxMBpS, pagepool",
        missing=()
        if settings.keys() >= requirements.keys()
        else (Message(_("What is set now: mmlsconfig on a client, and mmdiag --config for the defaults.")),),
    )


def _line(values: Mapping[str, int]) -> str:
    return "mmchconfig " + ",".join(f"{name}={value}" for name, value in values.items()) if values else ""


def _text(name: str, value: int) -> str:
    return format_quantity(value, "B") if name == POOL else str(value)


def _formula(requirements: dict[str, int], client_rate: float, rtt: float | None, block: int | None) -> str:
    parts = [f"{RATE} >= 2 · {rate(client_rate)} = {requirements[RATE]}"]
    if POOL in requirements and rtt and block:
        under_way = f"⌈{rate(client_rate)} · {format_quantity(rtt, 's')} / {block:,} B⌉ + 1"
        parts.append(f"{POOL} >= tasks · ({under_way}) · {block:,} B = {requirements[POOL]:,} B")
    return "; ".join(parts)
