"""What a publication prints of an experiment without the figures: trends and ratios, as sentences."""

from typing import Any

from django.utils.translation import gettext as _

from apps.bench.rules.shapes import FALLS, FLAT, RISES, SATURATES
from apps.bench.toolkit import Tool
from apps.campaigns.models import Experiment
from apps.reports.columns import quantity
from apps.reports.document import Items
from apps.results import charts, queries


def items_of(experiment: Experiment, tool: Tool) -> Items | None:
    """Return a list of what is printed, None if nothing is."""
    lines = [_trend(item, tool) for item in experiment.printed.get("trends", ())]
    lines += [_ratio(item, tool) for item in experiment.printed.get("ratios", ())]
    return Items(tuple((text,) for text in lines)) if lines else None


def _trend(item: dict[str, Any], tool: Tool) -> str:
    parameter = queries.parameter_of(tool, item["factor"])
    metrics = {metric.name: metric for metric in tool.metrics}
    metric = metrics.get(item["metric"])
    words = {
        "metric": _(metric.label) if metric else item["metric"],
        "factor": _(parameter.label) if parameter else item["factor"],
    }
    texts = {
        RISES: _("%(metric)s grows with %(factor)s."),
        FALLS: _("%(metric)s falls as %(factor)s grows."),
        FLAT: _("%(metric)s does not depend on %(factor)s."),
        SATURATES: _("%(metric)s grows with %(factor)s up to a plateau."),
    }
    sentences = [texts.get(item["shape"], item["shape"]) % words]
    if item.get("knee") is not None:
        at = charts.text_of(parameter, _whole(item["knee"]), {}) if parameter else f"{item['knee']:g}"
        sentences.append(_("It is reached at %(at)s.") % {"at": at})
    if item.get("best") is not None:
        sentences.append(_("It is %(value)s.") % {"value": quantity(item["best"], metric.unit if metric else "")})
    return " ".join(sentences)


def _ratio(item: dict[str, Any], tool: Tool) -> str:
    label = next((_(metric.label) for metric in tool.metrics if metric.name == item["metric"]), item["metric"])
    words = {"metric": label, "of": _named(item["of"]), "to": _named(item["to"]), "low": f"{item['low']:.3g}"}
    # Without an upper end JSON has no number for it.
    high = item.get("high")
    if high is None or high == item["low"]:
        return _("%(metric)s: %(of)s over %(to)s is %(low)s.") % words
    return _("%(metric)s: %(of)s over %(to)s is %(low)s to %(high)s.") % {**words, "high": f"{high:.3g}"}


def _named(side: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in side.items() if not name.endswith("_kind"))


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value
