"""REST: whether only an archive says that figures were measured, told beside them wherever they are."""

from typing import Any

from rest_framework import serializers


class ToldField(serializers.BooleanField):
    """Whether only an archive says that it was measured; `source` leads to what knows it (`Campaign.is_told`), unless
    it is there under its name.
    """

    def __init__(self, source: str = "", **kwargs: Any) -> None:
        text = "Whether only an archive says that it was measured: nobody here saw it."
        super().__init__(source=source or None, **{"read_only": True, "help_text": text, **kwargs})


class ToldOfTrialsField(ToldField):
    """The same of what rests on `trials` (ids): the serializer's context has those of all rows that are `told`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("trials", **kwargs)

    def to_representation(self, value: Any) -> bool:
        """Return whether any of them is."""
        return not self.context["told"].isdisjoint(value)
