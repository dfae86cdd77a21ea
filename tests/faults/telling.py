"""What came of the seeds, in words: a line for each, and a table of the faults."""

from collections import Counter
from collections.abc import Sequence

from tests.faults.playing import Outcome
from tests.faults.verdict import KINDS


def line_of(outcome: Outcome) -> str:
    """Return a seed's line, and one below it for each thing that is wrong."""
    faults = ", ".join(
        f"{fault.name}{f' ({fault.node})' if fault.node else ''} at {fault.at_s:.0f} s" for fault in outcome.faults
    )
    verdict = f"{len(outcome.findings)} WRONG" if outcome.findings else "ok"
    lines = [f"seed {outcome.seed}: {verdict} in {outcome.took_s:.0f} s: {faults}"]
    lines += [f"    {finding}" for finding in outcome.findings]
    lines += [f"    kept in {outcome.folder}"] if outcome.folder else []
    return "\n".join(lines)


def table_of(outcomes: Sequence[Outcome]) -> str:
    """Return a row for each fault: in how many seeds it was, what was wrong in those, the worst recovery (s)."""
    names = sorted({fault.name for outcome in outcomes for fault in outcome.faults})
    width = max(map(len, names), default=5)
    rows = [f"{'fault':<{width}} {'seeds':>6}" + "".join(f"{kind:>9}" for kind in KINDS) + "  worst recovery"]
    for name in names:
        seeds = [outcome for outcome in outcomes if any(fault.name == name for fault in outcome.faults)]
        wrong = Counter(finding.kind for outcome in seeds for finding in outcome.findings)
        times = [
            fault.recovery_s
            for outcome in seeds
            for fault in outcome.faults
            if fault.name == name and fault.recovery_s is not None
        ]
        counts = "".join(f"{wrong[kind]:>9}" for kind in KINDS)
        rows.append(f"{name:<{width}} {len(seeds):>6}{counts}  {max(times, default=0.0):>12.1f} s")
    failed = sum(bool(outcome.findings) for outcome in outcomes)
    played = sum(len(outcome.faults) for outcome in outcomes)
    return "\n".join([*rows, f"{len(outcomes)} seeds with {played} faults; something was wrong in {failed} of them."])
