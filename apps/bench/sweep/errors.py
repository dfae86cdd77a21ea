"""What is said of a sweep that can not be expanded."""

from collections.abc import Mapping

from apps.bench.text import Message


class SweepError(ValueError):
    """A sweep that can not be expanded; ``errors`` names each field and says what to do.

    Fields: ``factors.<name>``, ``fixed.<name>``, ``zips.<index>``, ``exclusions`` or ``exclusions.<index>``,
    ``repetitions``, ``warmups``, ``order``, ``seed``, ``trials`` (too many).
    """

    def __init__(self, errors: Mapping[str, Message]) -> None:
        self.errors = dict(errors)
        super().__init__("; ".join(f"{field}: {message}" for field, message in self.errors.items()))

    @property
    def field(self) -> str:
        """Return the first field that is wrong."""
        return next(iter(self.errors))

    @property
    def message(self) -> Message:
        """Return what is wrong with the first field."""
        return self.errors[self.field]
