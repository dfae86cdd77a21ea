"""Why a tool that a team defined gave no result."""

from apps.bench.outputs.reasons import Reason
from apps.bench.text import _

_DEFINITION = _(
    "Look at the raw output; if it is a result, correct the tool's definition, which makes a new version."
)

REASONS: dict[str, Reason] = {
    "metric-missing": Reason(
        _("%(metric)s is not in the output of the program on %(node)s."),
        _DEFINITION,
        True,
        "no-result",
    ),
    "not-a-number": Reason(
        _("What stands for %(metric)s in the output of the program on %(node)s is not a number: %(said)s"),
        _DEFINITION,
        False,
        "unreadable",
    ),
    "wrong-unit": Reason(
        _("%(metric)s is in %(unit)s in the output of the program on %(node)s, and no unit of that kind is wanted."),
        _DEFINITION,
        False,
        "unreadable",
    ),
    "says-failure": Reason(
        _("The program on %(node)s tells of a failure: %(said)s"),
        _("Mend what it says; if it is no failure, correct the tool's definition."),
        True,
        "no-result",
    ),
    "no-success": Reason(
        _("The program on %(node)s does not say that it succeeded: %(pattern)s is not in its output."),
        _DEFINITION,
        True,
        "no-result",
    ),
    "implausible": Reason(
        _("The result is not plausible: %(condition)s does not hold where %(values)s."),
        _("Look at the raw output; if the result is right, correct the condition in the tool's definition."),
        False,
    ),
    "pattern-too-large": Reason(
        _("What the program on %(node)s printed is not searched: too large a pattern stands at %(fields)s."),
        _("Make a new version of the tool, in which patterns repeat less or fewer letters."),
        False,
        "unreadable",
    ),
    "file-missing": Reason(
        _("The program on %(node)s did not write %(file)s, in which its result should be."),
        _DEFINITION,
        True,
        "no-result",
    ),
}
