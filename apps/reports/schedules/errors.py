"""Why a report is not delivered."""

from apps.bench.text import Message


class Undeliverable(Exception):
    """Trying again would not help until a person changes something; `message` says what."""

    def __init__(self, message: Message) -> None:
        """Keep the message."""
        super().__init__(str(message))
        self.message = message
