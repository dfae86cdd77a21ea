"""Why a report is not delivered."""

from apps.bench.text import Message


class Undeliverable(Exception):
    """Trying again would not help until a person changes something; `message` says what."""

    def __init__(self, message: Message) -> None:
        """Keep the message."""
        super().__init__(str(message))
        self.message = message


class NotTaken(Exception):
    """The mail server refused a mail to one address: for good, or only for now; its text is the server's answer."""

    def __init__(self, answer: str, *, for_good: bool) -> None:
        """Keep what the server said."""
        super().__init__(answer)
        self.for_good = for_good


class NoServer(Exception):
    """No mail can be sent at present, whoever it is for; its text says why."""
