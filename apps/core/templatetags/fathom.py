"""Tags and filters every page uses: quantities with units, stored messages, times, icons."""

import functools
import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ParamSpec, TypeVar

from django import forms, template
from django.core.paginator import Page
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from apps.bench import units
from apps.core import clock, editing, formulas, menu, messages, migrated, moments

register = template.Library()
logger = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")


def shown(show: Callable[P, R]) -> Callable[P, R | str]:
    """Let a filter show "–" for a value that it cannot show, and log it: one row that is broken breaks no page."""

    @functools.wraps(show)
    def show_or_not(*args: P.args, **kwargs: P.kwargs) -> R | str:
        try:
            return show(*args, **kwargs)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            logger.warning("%s cannot show a value", show.__name__, exc_info=True)
            return "–"

    return show_or_not


@register.filter
@shown
def quantity(value: float | None, unit: str = "") -> str:
    """Return a figure in base units with its unit, readable: ``983000000|quantity:"bit/s"`` is 983.0 Mbit/s."""
    return "–" if value is None or value == "" else units.format_quantity(value, unit)


@register.filter
@shown
def percent(value: float | None) -> str:
    """Return a share in per cent: ``0.0312|percent`` is 3.1 %."""
    if value is None:
        return "–"
    # Two digits, unless that would be written as a power of ten.
    return f"{100 * value:.{2 if abs(value) < 0.995 else 4}g} %"


@register.filter
@shown
def gain(value: float | None) -> str:
    """Return a ratio of two figures: ``1.4567|gain`` is ×1.46."""
    if value is None:
        return "–"
    return f"×{value:.3g}" if value < 999.5 else f"×{value:,.0f}"


@register.filter
@shown
def duration(value: float | None) -> str:
    """Return seconds as time: ``4.8e-3|duration`` is 4.80 ms, ``5400|duration`` is 1 h 30 min."""
    return quantity(value, "s")


@register.filter
@shown
def message(value: Mapping[str, Any] | str | None) -> str:
    """Return a stored message in the reader's language."""
    return messages.render(value)


@register.filter
@shown
def formula(value: str) -> str:
    """Return a formula with its words in the reader's language."""
    return formulas.render(value)


@register.filter
@shown
def translated(value: str) -> str:
    """Return the translation of a msgid that the science marked."""
    return gettext(value) if value else ""


@register.filter
@shown
def get_item(mapping: Mapping[Any, Any], key: object) -> object:
    """Return ``mapping[key]``, or None."""
    return mapping.get(key) if mapping else None


@register.filter
@shown
def past(moment: datetime | None) -> datetime | str | None:
    """Return since when something is; None where that lies ahead, for a wrong clock wrote it."""
    return clock.past(moment)


@register.simple_tag
@shown
def when(moment: datetime | None, style: str = "short") -> SafeString | str:
    """Return a <time> in the reader's zone; style "precise" shows seconds and milliseconds."""
    if moment is None:
        return "–"
    local = moments.local(moment)
    # ISO order, which means the same to every reader.
    text = (
        f"{local:%Y-%m-%d %H:%M}"
        if style == "short"
        else f"{local:%Y-%m-%d %H:%M:%S}.{local.microsecond // 1000:03d}"
    )
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', local.isoformat(), f"{local:%Y-%m-%d %H:%M:%S %Z}", text
    )


@register.simple_tag
def version(**values: Any) -> SafeString:
    """Return the hidden field by which a small form says what it shows: its fields' values, by name."""
    return format_html('<input type="hidden" name="{}" value="{}">', editing.VERSION, editing.version_of(values))


@register.simple_tag
def icon(name: str) -> SafeString:
    """Return a Bootstrap icon that screen readers pass over."""
    return format_html('<i class="bi bi-{}" aria-hidden="true"></i>', name)


@register.simple_tag(takes_context=True)
def with_query(context: Mapping[str, Any], **changes: object) -> str:
    """Return the page's query string with some values changed, for pagination and sorting."""
    query: QueryDict = context["request"].GET.copy()
    for name, value in changes.items():
        if value is None or value == "":
            query.pop(name, None)
        else:
            query[name] = str(value)
    return f"?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def side_menu(context: Mapping[str, Any]) -> list[tuple[str, list[menu.ShownEntry]]]:
    """Return (title, entries) of each group of the side bar."""
    return menu.groups_for(context.get("request"))


@register.simple_tag(takes_context=True)
def own_menu(context: Mapping[str, Any]) -> list[menu.ShownEntry]:
    """Return the entries that lead to what is one's own."""
    return menu.own_for(context.get("request"))


@register.filter
def page_numbers(page: Page) -> list[int | str]:
    """Return the numbers to show of many pages: the first, those about the present one, the last, "…" between."""
    return list(page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1))


@register.filter
def small(field: forms.BoundField) -> SafeString:
    """Return a form's field as the small widget of a filter bar."""
    kind = (
        "form-select form-select-sm"
        if isinstance(field.field.widget, forms.Select)
        else "form-control form-control-sm"
    )
    return field.as_widget(attrs={"class": kind})


@register.simple_tag
def restart_notice() -> str:
    """Return what is to be done where code and tables are of two versions; empty where they are of one."""
    gap = migrated.look().gap
    return gap.words() if gap else ""
