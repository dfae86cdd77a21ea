"""Requests drawn from the schema, each undone again, and what is wrong with their answers.

`FUZZ_EXAMPLES` makes a long run (requests an operation, of each role; 2 unless given), `FUZZ_SEED` another one;
`FATHOM_TURN=all` takes all operations (`tests/rotation.py`).
"""

import os
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import schemathesis
from django.core.signals import got_request_exception, request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import IntegrityError, close_old_connections, connection, transaction
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks

from tests.rest import privacy

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "2"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]
load_all_checks()


@dataclass
class Findings:
    """What a run saw: how often each operation answered with each status, and what was wrong, each once."""

    statuses: dict[str, Counter[int]] = field(default_factory=dict)
    problems: dict[tuple[str, str], str] = field(default_factory=dict)

    def note(self, operation: str, status: int) -> None:
        """Count an answer."""
        self.statuses.setdefault(operation, Counter())[status] += 1

    def blame(self, operation: str, kind: str, text: str) -> None:
        """Keep the first problem of a kind."""
        self.problems.setdefault((operation, kind), text)

    def refused(self) -> set[str]:
        """Return the operations that never did what they were asked to."""
        return {operation for operation, seen in self.statuses.items() if min(seen) >= 300}

    def report(self) -> str:
        """Return the problems as text."""
        return "\n\n".join(f"{operation}: {kind}\n{text}" for (operation, kind), text in self.problems.items())


class Caller:
    """Sends cases as each of some people, each in a transaction that is rolled back, and judges the answers."""

    def __init__(self, headers: dict[str, str], private: Sequence[str] = ()) -> None:
        """`private` are words that no answer may have, to none of these people."""
        self.headers, self._private = headers, list(private)
        self.app = get_wsgi_application()
        self.found = {who: Findings() for who in headers}
        first, *others = headers
        # Every other case is sent by somebody else, too: by each of them as it fits the schema and as it does not.
        self._beside = cycle([who for one in others for pair in ((one, first), (first, one)) for who in pair])

    def call(self, case: schemathesis.Case, *people: str) -> None:
        """Send a case as these people, as everybody if none is named."""
        for who in people or self.headers:
            self._call(case, self.headers[who], self.found[who])

    def report(self) -> str:
        """Return all that is wrong, as text."""
        return "\n\n".join(f"as {who}: {found.report()}" for who, found in self.found.items() if found.problems)

    def _call(self, case: schemathesis.Case, header: str, found: Findings) -> None:
        label = case.operation.label
        with _errors() as errors, transaction.atomic():
            answer = case.call(app=self.app, headers={"Authorization": header})
            if not errors and not connection.needs_rollback and case.method.upper() not in ("GET", "HEAD"):
                try:
                    connection.check_constraints()
                except IntegrityError as error:
                    errors.append(f"at the end of the transaction: {error}")
            transaction.set_rollback(True)
        found.note(label, answer.status_code)
        for text in errors:
            kind = f"server error {text.strip().rpartition(chr(10))[2][:150]}"
            found.blame(label, kind, f"{_sent(case)}\n{text}")
        if not errors:
            _judge(case, answer, found)
        if text := privacy.told(answer.content, self._private, _sent(case)):
            found.blame(label, "tells of a campaign that only its maker sees", f"{_sent(case)}\n{text}")

    def fuzz(self, operation: schemathesis.APIOperation, examples: int = EXAMPLES) -> None:
        """Send so many cases, each as the first person; half of them or one more fit the schema."""
        first = next(iter(self.headers))
        for mode, count in ((GenerationMode.POSITIVE, (examples + 1) // 2), (GenerationMode.NEGATIVE, examples // 2)):

            @seed(SEED)
            @settings(
                max_examples=max(1, count),
                database=None,
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def send(case: Any) -> None:
                self.call(case, *dict.fromkeys((first, next(self._beside, first))))

            send()

    def send(self, operation: schemathesis.APIOperation, example: dict[str, Any]) -> None:
        """Send what a person would; everything that is not said is left out of the request."""
        media = example.get("media") or next(iter(operation.get_request_payload_content_types() or []), None)
        case = operation.Case(
            path_parameters=example.get("path") or {},
            query=example.get("query") or {},
            media_type=media if "body" in example else None,
            **({"body": example["body"]} if "body" in example else {}),
        )
        self.call(case)


def _judge(case: schemathesis.Case, answer: schemathesis.Response, found: Findings) -> None:
    try:
        case.validate_response(answer, checks=CHECKS)
    except FailureGroup as group:
        for failure in group.exceptions:
            text = f"{_sent(case)}\n{answer.status_code} {answer.content[:600]!r}\n{failure}"
            found.blame(case.operation.label, failure.title + str(failure)[:60], text)


def _sent(case: Any) -> str:
    return f"{case.method} {case.formatted_path} query={case.query!r} body={str(case.body)[:600]!r}"


@contextmanager
def _errors() -> Iterator[list[str]]:
    """Collect the tracebacks of what no view caught."""
    caught: list[str] = []

    def keep(**_signal: Any) -> None:
        caught.append("".join(traceback.format_exc().splitlines(keepends=True)[-14:]))

    # As Django's own test client does: the connection holds the transaction of the test.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    got_request_exception.connect(keep)
    try:
        yield caught
    finally:
        got_request_exception.disconnect(keep)
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)
