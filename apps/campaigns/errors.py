"""What is said when a campaign, an experiment or an action on one is refused."""

from collections.abc import Mapping, Sequence

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from apps.bench.text import Message, _
from apps.core.errors import ConflictError

# Errors that concern no one field stand under this name, as Django's own do.
GENERAL = "__all__"


class Refused(ValidationError):
    """A refused request: {field: what is wrong and what to do}; fields of parts are dotted (`factors.window`)."""

    def __init__(self, errors: Mapping[str, Message | Sequence[Message]]) -> None:
        ValidationError.__init__(
            self,
            {
                field: [_error(message) for message in ([messages] if isinstance(messages, Message) else messages)]
                for field, messages in errors.items()
            },
        )

    def within(self, part: str) -> "Refused":
        """Return the same refusal with each field named as one of `part`."""
        outer = Refused({})
        outer.error_dict = {f"{part}.{field}": wrong for field, wrong in self.error_dict.items()}
        return outer


class WrongState(Refused, ConflictError):
    """An action that the present state does not allow: 409 over REST."""

    def __init__(self, message: Message) -> None:
        super().__init__({"state": message})


class NotAsConfirmed(ConflictError):
    """What would be started is not what somebody looked at and agreed to."""

    def __init__(self) -> None:
        super().__init__(
            Message(
                _("The campaign was changed after you looked at it: look at what it would start now, then launch it.")
            )
        )


def _error(message: Message) -> ValidationError:
    # The msgid is translated when the error is shown, in the reader's language.
    return ValidationError(gettext_lazy(message.msgid), params=dict(message.params) or None)
