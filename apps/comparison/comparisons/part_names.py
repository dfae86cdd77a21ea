"""What the parts of a comparison are called where one of them fails."""

from apps.bench.text import _

CONTRAST = _("The comparison with the baseline")
IMPORTANCE = _("Which factors matter")
CHART = _("The chart")
