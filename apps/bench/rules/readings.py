"""What several rules read of one evidence, or of one curve, which never changes once it is there: it is read once."""

import functools
from collections.abc import Callable, Hashable
from typing import Any, Concatenate, ParamSpec, TypeVar

S = TypeVar("S")
T = TypeVar("T")
P = ParamSpec("P")


def read_once(read: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Return a reading that is kept with what it is read of, by whatever else it is asked with.

    What it raises is raised again each time that it is asked. All share one result: none may change it.
    """
    name = f"{read.__module__}.{read.__qualname__}"

    @functools.wraps(read)
    def reader(subject: S, *args: P.args, **kwargs: P.kwargs) -> T:
        readings: dict[Hashable, Any] = vars(subject).setdefault("readings", {})
        key = (name, args, *kwargs.items()) if args or kwargs else name
        if key not in readings:
            readings[key] = read(subject, *args, **kwargs)
        reading: T = readings[key]
        return reading

    return reader
