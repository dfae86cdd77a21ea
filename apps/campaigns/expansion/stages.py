"""An experiment whose turn has come: each set of nodes takes its values from what those nodes measured before."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from apps.campaigns import errors
from apps.campaigns.expansion import formulas
from apps.campaigns.expansion.casts import Cast, Errors
from apps.campaigns.expansion.points import Expansion, expand_experiment
from apps.campaigns.models import Experiment, ExperimentRole, Lane

# Gives what an experiment measured of a metric, in the metric's base unit: {lane: figures}.
Measured = Callable[[Experiment, str], Mapping[int, Sequence[float]]]


@dataclass(frozen=True)
class LeftOut:
    """A cast whose values could not be computed, or are refused, and why."""

    cast: Cast
    why: errors.Refused


@dataclass
class _Memory:
    """What earlier experiments measured, each asked for once."""

    measured: Measured
    lanes: dict[int, list[Lane]] = field(default_factory=dict)
    figures: dict[tuple[int, str], Mapping[int, Sequence[float]]] = field(default_factory=dict)

    def of(self, cast: Cast) -> formulas.Figures:
        """Return what gives the figures that bear on a cast."""
        return lambda earlier, metric: self._find(cast, earlier, metric)

    def _find(self, cast: Cast, earlier: Experiment, metric: str) -> list[float]:
        key = earlier.pk, metric
        if key not in self.figures:
            self.figures[key] = self.measured(earlier, metric)
        if earlier.pk not in self.lanes:
            self.lanes[earlier.pk] = list(earlier.lanes.all())
        lanes = lanes_of(cast, self.lanes[earlier.pk])
        return [figure for lane in lanes for figure in self.figures[key].get(lane.pk, ())]


def expand_stage(
    experiment: Experiment, roles: Iterable[ExperimentRole], measured: Measured
) -> tuple[list[Expansion], list[LeftOut]]:
    """Return what an experiment comes to now that others have ended; casts with the same values share an expansion.

    Casts without values are left out; errors.Refused is raised for what is wrong with all of them.
    """
    roles = list(roles)
    whole = expand_experiment(experiment, roles)
    if not whole.open:
        return [whole], []
    memory = _Memory(measured)
    groups: dict[tuple[tuple[str, str], ...], list[Cast]] = {}
    left_out: list[LeftOut] = []
    for cast in whole.casts:
        wrong: Errors = {}
        sweep_texts = formulas.read(experiment, whole.parameters, memory.of(cast), wrong)
        if wrong:
            left_out.append(LeftOut(cast, errors.Refused(wrong)))
        else:
            groups.setdefault(tuple(sweep_texts.resolved.items()), []).append(cast)
    expansions = []
    for casts in groups.values():
        try:
            expansions.append(expand_experiment(experiment, roles, memory.of(casts[0]), tuple(casts)))
        except errors.Refused as refused:
            left_out += [LeftOut(cast, refused) for cast in casts]
    return expansions, left_out


def lanes_of(cast: Cast, lanes: Sequence[Lane]) -> list[Lane]:
    """Return the lanes whose figures bear on a cast, those that are nearest to it.

    The same nodes in the same roles; else the same nodes in any, a path being that of both directions; else those of
    which one has all the nodes of the other; and all lanes where no node of the cast was among those measured so.
    """
    ids = cast.as_ids()
    nodes = {node.pk for node in cast.nodes}
    sets = {lane.pk: {pk for members in lane.roles.values() for pk in members} for lane in lanes}
    for fits in (
        lambda lane: lane.roles == ids,
        lambda lane: sets[lane.pk] == nodes,
        lambda lane: sets[lane.pk] <= nodes or nodes <= sets[lane.pk],
    ):
        if nearest := [lane for lane in lanes if fits(lane)]:
            return nearest
    return list(lanes)
