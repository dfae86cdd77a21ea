"""What is refused for the state of things, which another request may find changed."""

from django.core.exceptions import ValidationError
from django.utils.functional import lazy

from apps.bench.text import Message
from apps.core import messages


class ConflictError(ValidationError):
    """What was asked for does not fit what is there now; over REST that is 409, on pages a message like others."""

    def __init__(self, message: Message | str) -> None:
        """Keep the message, which is translated when it is shown, or a text in the reader's language."""
        super().__init__(_rendered(message))


# Messages may stand within messages; each is translated when it is shown, in the reader's language.
_rendered = lazy(messages.render, str)
