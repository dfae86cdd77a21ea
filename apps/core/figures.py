"""Whole numbers of texts from outside: what is longer than a column holds is none."""

# Python refuses to read very long ones, with an error; other scripts' digits are no numbers of programs.
_LONGEST = 18


def whole(text: object) -> int | None:
    """Return the number that a text of at most 18 digits is, None for anything else."""
    if not isinstance(text, str) or len(text) > _LONGEST or not (text.isascii() and text.isdigit()):
        return None
    return int(text)
