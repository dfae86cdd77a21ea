"""What is refused for the state of things, which another request may find changed."""

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.functional import lazy

from apps.bench.text import Message
from apps.core import messages


def by_field(error: ValidationError) -> dict[str, list[ValidationError]]:
    """Return what is wrong with each field; under NON_FIELD_ERRORS what is of none, as a conflict."""
    errors: dict[str, list[ValidationError]] = getattr(error, "error_dict", None) or {
        NON_FIELD_ERRORS: error.error_list
    }
    return errors


class ConflictError(ValidationError):
    """What was asked for does not fit what is there now; over REST that is 409, on pages a message like others."""

    def __init__(self, message: Message | str) -> None:
        """Keep the message, which is translated when it is shown, or a text in the reader's language."""
        super().__init__(_rendered(message))

    @property
    def message_dict(self) -> dict[str, list[str]]:
        """Return what is wrong by field, and as of no field where it is of none."""
        return {field: ValidationError(errors).messages for field, errors in by_field(self).items()}


# Messages may stand within messages; each is translated when it is shown, in the reader's language.
_rendered = lazy(messages.render, str)
