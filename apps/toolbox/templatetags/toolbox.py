"""How the parts of a definition are shown."""

from django import template
from django.utils.translation import gettext

from apps.bench.toolkit import Parameter
from apps.bench.units import canonical_text, format_quantity
from apps.toolbox.forms import KINDS, TAKE_NAMES

register = template.Library()


@register.filter
def tool_kind(kind: str) -> str:
    """Return what a kind of parameter is called."""
    return str(KINDS.get(kind, kind))


@register.filter
def tool_take(take: str) -> str:
    """Return which of several matches counts."""
    return str(TAKE_NAMES.get(take, take))


@register.filter
def tool_default(parameter: Parameter) -> str:
    """Return a parameter's default as one writes it, or that a value is needed."""
    if parameter.default is None:
        return gettext("needed") if parameter.required else "–"
    if isinstance(parameter.default, bool):
        return gettext("yes") if parameter.default else gettext("no")
    return canonical_text(parameter.default, parameter.kind) or "–"


@register.filter
def tool_range(parameter: Parameter) -> str:
    """Return a parameter's range or its choices."""
    if parameter.choices:
        return ", ".join(value for value, _label in parameter.choices)
    ends = [parameter.minimum, parameter.maximum]
    texts = ["" if end is None else format_quantity(end, parameter.unit) for end in ends]
    return f"{texts[0] or '…'} – {texts[1] or '…'}" if any(texts) else "–"
