"""What holds a delivery up, as its text; each says what is done about it, and what once it was tried often enough."""

from apps.bench.text import _


class Unmailed(str):
    """What the mail server said."""

    again = _("It could not be mailed, and is tried again: %(why)s.")
    given_up = _(
        "It could not be mailed in several attempts: %(why)s. Look at the mail settings; the edition is in "
        "the report's page."
    )


class Vanished(str):
    """The formats whose files are gone."""

    again = _("These files are gone from the service's disk, and are made again: %(why)s.")
    given_up = _("These files are gone from the service's disk each time they were made: %(why)s.")


class NotYet(str):
    """What is not concluded yet."""

    again = _("It waits: %(why)s")
    given_up = _("It was given up after several attempts: %(why)s")
