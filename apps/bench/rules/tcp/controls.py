"""Congestion controls measured in several circumstances: what the best of one has in the others."""

import dataclasses
from collections.abc import Sequence

from apps.bench.rules.base import DIAGNOSIS, FindingDraft
from apps.bench.rules.tcp.scatter import Scatter
from apps.bench.rules.tcp.sweeps import SURELY, Sweep
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# Sizes (B) among the circumstances, of which none is the system's own.
SIZES = ("window",)


def weighed(draft: FindingDraft | None, sweeps: Sequence[Sweep], scatter: Scatter) -> FindingDraft | None:
    """Return a finding on the first of several sweeps; it advises nothing where another control is best elsewhere."""
    if draft is None or draft.proof is None or len(sweeps) < 2:
        return draft
    best = draft.proof.then["congestion"]
    equals = ["" if name == "default" else name for name in str(draft.title.params["all"]).split(", ")]
    sweeps_of_best = [sweep for sweep in sweeps if any(cell.value == best for cell in sweep.cells)]
    names = _differing(sweeps_of_best)
    figures = tuple(_figures(sweep, names) for sweep in sweeps_of_best)
    trials = tuple(sorted({*draft.evidence, *(trial for sweep in sweeps_of_best for trial in sweep.trials)}))
    if not any(_is_beaten(sweep, name, scatter) for sweep in sweeps_of_best[1:] for name in {best, *equals}):
        return dataclasses.replace(draft, why=(*draft.why, *figures[1:]), evidence=trials)
    factors = ", ".join(names)
    text = _("Which congestion control has the highest rate depends on %(factors)s")
    return dataclasses.replace(
        draft,
        kind=DIAGNOSIS,
        title=Message(text, {"factors": factors}),
        compared_title=None,
        why=figures,
        formula=f"X by {factors}",
        evidence=trials,
        change="",
        undo="",
        present=None,
        predicted=None,
        predicted_interval=None,
        applies_when=Message(_("This path and direction.")),
        side_effects=(),
        limits=(),
        proof=None,
    )


def _is_beaten(sweep: Sweep, best: str, scatter: Scatter) -> bool:
    """Return whether another control surely has more in a sweep than one that was measured there."""
    rates = next((cell.rates for cell in sweep.cells if cell.value == best), None)
    return rates is not None and any(
        scatter.is_less(rates, cell.rates, by=SURELY) for cell in sweep.cells if cell.value != best
    )


def _differing(sweeps: Sequence[Sweep]) -> list[str]:
    """Return the names of the settings in which sweeps differ."""
    names = sorted({name for sweep in sweeps for name in sweep.fixed})
    return [name for name in names if len({repr(sweep.fixed.get(name)) for sweep in sweeps}) > 1]


def _figures(sweep: Sweep, names: Sequence[str]) -> Message:
    figures = ", ".join(
        f"{cell.value or 'default'}: {format_quantity(cell.rate.mean, 'bit/s')}" for cell in sweep.cells
    )
    conditions = ", ".join(f"{name} = {_value(sweep, name)}" for name in names)
    return Message(_("With %(conditions)s: %(figures)s."), {"conditions": conditions, "figures": figures})


def _value(sweep: Sweep, name: str) -> str:
    value = sweep.fixed.get(name)
    return format_quantity(value, "B") if name in SIZES and value else f"{value}"
