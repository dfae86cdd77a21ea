"""Why a file of unknown origin could not be read."""

from apps.bench.outputs.reasons import Reason
from apps.bench.text import _

REASONS: dict[str, Reason] = {
    "empty-file": Reason(
        _("There is nothing in it."),
        _("Give the whole output of one run."),
        False,
        "unrecognised",
    ),
    "unrecognised": Reason(
        _("This is not the output of a tool known here. It begins: %(said)s"),
        _("Name the tool that made it, if it is one of those known here."),
        False,
    ),
    "unrecognised-command": Reason(
        _("This command is not one of a tool known here: %(command)s"),
        _("Name the tool that made it, if it is one of those known here."),
        False,
        "unrecognised",
    ),
    "other-protocol": Reason(
        _("The output of the program on %(node)s is of %(found)s, not of %(wanted)s."),
        _("Read it with the tool for that protocol."),
        False,
        "unreadable",
    ),
    "unread-test": Reason(
        _("The program on %(node)s carried out its test %(test)s, whose report is not read here."),
        _("Measure with one of the tests that the tool offers."),
        False,
        "unreadable",
    ),
    "ambiguous": Reason(
        _("This could be the output of any of these tools: %(tools)s."),
        _("Name the one that made it."),
        False,
    ),
}
