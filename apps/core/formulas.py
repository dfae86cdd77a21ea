"""Formulas of findings in the reader's language: their words, for symbols and figures stand as they are."""

import functools
import re

from django.utils.translation import get_language, gettext

from apps.bench.text import _

# Every word of a formula that is no symbol; %(figure)s is whatever stands there.
PHRASES = (
    _("the least with the rate of all larger ones"),
    _("the least with X >= %(figure)s"),
    _("the least from the knee on with X >= %(figure)s"),
    _("the least from which on X is level"),
    _("the largest tried"),
    _("the size of the highest X"),
    _("the knee as printed"),
    _("expected: N = path / one stream"),
    _("expected"),
    _("of a shallow queue at most %(figure)s"),
    _("from %(figure)s on it matters"),
    _("same socket"),
    _("other socket"),
    _("path MTU"),
    _("no option"),
    _("automatic"),
    _("default"),
    _("granted"),
    _("measured"),
    _("below"),
    _("tasks"),
    _("dispersion"),
    _("available"),
)
_FIGURE = "%(figure)s"


def render(formula: str) -> str:
    """Return a formula with its words in the present language, as it is where that is English."""
    if not formula or (get_language() or "en").startswith("en"):
        return formula
    return _pattern().sub(_translated, formula)


@functools.cache
def _pattern() -> re.Pattern[str]:
    """Return what finds the phrases, each once: the longest that stands at a place."""
    found = (re.escape(text).replace(re.escape(_FIGURE), r"(\S+)") for text in sorted(PHRASES, key=len, reverse=True))
    return re.compile("|".join(rf"(?<!\w)(?:{text})(?!\w)" for text in found))


def _translated(found: re.Match[str]) -> str:
    figure = next((group for group in found.groups() if group is not None), None)
    if figure is None:
        return gettext(found[0])
    return gettext(found[0].replace(figure, _FIGURE, 1)) % {"figure": figure}
