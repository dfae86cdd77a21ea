"""What a comparison's address asks for and the results do not have, so that nothing else is shown in its place."""

from collections.abc import Iterable, Mapping

from apps.bench.text import Message, _
from apps.bench.toolkit import Metric
from apps.comparison.comparisons.factors import SET, VariedFactor
from apps.comparison.comparisons.state import ComparisonState
from apps.core import contract


def missing_metric(state: ComparisonState, metrics: Iterable[Metric]) -> dict[str, list[Message]]:
    """Return {"metric": [message]} if the state asks for one that is none of those there are, else {}."""
    errors: dict[str, list[Message]] = {}
    names = [metric.name for metric in metrics]
    if state.metric and names and state.metric not in names:
        text = _("There is no metric “%(name)s” here; there are: %(known)s.")
        errors["metric"] = [_refusal(text, state.metric, names)]
    return errors


def missing_factors(
    state: ComparisonState, axis: VariedFactor, series: VariedFactor | None, factors: Mapping[str, VariedFactor]
) -> dict[str, list[Message]]:
    """Return {parameter of the address: [message]} of factors and values that results (`factors`) do not have."""
    errors: dict[str, list[Message]] = {}
    text = _("There is no factor “%(name)s” here; there are: %(known)s.")
    if state.axis and state.axis != axis.name:
        errors["x"] = [_refusal(text, state.axis, [SET, *factors])]
    if state.series and state.series not in factors and state.series != axis.name:
        errors["by"] = [_refusal(text, state.series, factors)]
    for name, value in state.fixed:
        if name not in factors:
            errors.setdefault("fix", []).append(_refusal(text, name, factors))
        elif value not in factors[name].keys:
            errors.setdefault("fix", []).append(_no_value(value, factors[name]))
    for factor, base_value in ((axis, state.base_axis), (series, state.base_series)):
        if base_value is not None and (factor is None or factor.name == SET or base_value not in factor.keys):
            errors["base"] = [_no_value(base_value, factor)]
    return errors


def _no_value(value: str, factor: VariedFactor | None) -> Message:
    keys = factor.keys if factor and factor.name != SET else ()
    return _refusal(_("There is no value “%(name)s” here; there are: %(known)s."), value, keys)


def _refusal(text: str, name: str, choices: Iterable[str]) -> Message:
    return Message(text, {"name": name[:100], "known": contract.listed(choices)})
