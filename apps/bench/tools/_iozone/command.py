"""IOzone's command line, with each option by itself."""

import getopt
import shlex
from collections.abc import Sequence

# Options of one letter without a value, and with one (as `iozone -h` has them; ``-+u`` is the value "u" of "+").
_FLAGS = "aAcCBDeEGIhKmMNoOpQRTvwWxzZ"
_VALUED = "bdfFgHijJklLnPqrsStuUVXyY+"


class UnknownOption(ValueError):
    """An option that IOzone does not have."""


def words_of(text: str) -> list[str]:
    """Return the words of a line, [] where quotes do not close."""
    try:
        return shlex.split(text)
    except ValueError:
        return []


def apart(argv: Sequence[str]) -> list[str]:
    """Return a command with one option in each word, its value behind it: ``-aO -s4m`` is ``-a -O -s 4m``.

    Raises UnknownOption.
    """
    short = _FLAGS + "".join(f"{letter}:" for letter in _VALUED)
    try:
        options, others = getopt.gnu_getopt(list(argv[1:]), short)
    except getopt.GetoptError as error:
        raise UnknownOption(str(error)) from error
    words = list(argv[:1])
    for option, value in options:
        words += [option + value] if option == "-+" else [option, value] if value else [option]
    return words + others
