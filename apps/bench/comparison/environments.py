"""What differs between sets of results: everything that was recorded of how each was measured, side by side."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

# What is known of one set: {(topic, name): the values it had}, such as ("kernel", "release"): {"6.1", "6.8"}.
Values = Mapping[tuple[str, str], frozenset[Hashable]]


@dataclass(frozen=True)
class Deviation:
    """Something that is not the same in all sets, or changed within the only one: its topic, its name, and what each
    set had (empty: not known).
    """

    topic: str
    name: str
    values: tuple[frozenset[Hashable], ...]

    @property
    def is_unknown_somewhere(self) -> bool:
        """Return whether a set does not say; then it may be the same after all."""
        return any(not values for values in self.values)


def deviations(sets: Sequence[Values]) -> list[Deviation]:
    """Return what differs, in the order in which the sets name it; what no set or only one set knows comes last."""
    names = dict.fromkeys(name for values in sets for name in values)
    differences = [
        Deviation(topic, name, tuple(values.get((topic, name), frozenset()) for values in sets))
        for topic, name in names
    ]
    return sorted(
        (item for item in differences if len(set(item.values)) > 1), key=lambda item: item.is_unknown_somewhere
    )
