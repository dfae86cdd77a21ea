"""Outputs that no campaign's tool makes, but that belong to measurements: what batch schedulers print."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from apps.bench import schedulers
from apps.bench.tools._outputs import read_text
from apps.bench.tools.base import Output

Json = dict[str, Any]


@dataclass(frozen=True)
class Form:
    """A form of output beside those of the tools: how it is known, and how it is read (ToolFailure if it can not)."""

    name: str
    recognises: Callable[[Output], bool]
    read: Callable[[Output], Json]


def form_of(output: Output) -> Form | None:
    """Return the form that an output has, or None."""
    return next((form for form in FORMS if form.recognises(output)), None)


FORMS: tuple[Form, ...] = (
    Form(
        "scheduler",
        lambda output: schedulers.recognises(read_text(output), output.argv),
        lambda output: schedulers.read(read_text(output), output.argv),
    ),
)
