"""What is refused for the state of things, which another request may find changed."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from apps.bench.text import Message


class ConflictError(ValidationError):
    """What was asked for does not fit what is there now; over REST that is 409, on pages a message like others."""

    def __init__(self, message: Message) -> None:
        """Keep the message, which is translated when it is shown."""
        super().__init__(gettext_lazy(message.msgid), params=dict(message.params) or None)
