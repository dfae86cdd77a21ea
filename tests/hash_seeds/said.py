"""Prints what pages, files and REST say of one thing each, as JSON: `python -m tests.hash_seeds.said`.

No database is asked: rules, flags, remarks, errors of forms, and a document as a page.
"""

import dataclasses
import json
import os
from collections.abc import Iterator

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings.test")

import django

django.setup()

from apps.archive.imports import completion  # noqa: E402
from apps.bench import rules, tools  # noqa: E402
from apps.bench.rules.base import Evidence  # noqa: E402
from apps.bench.rules.runner import drafts_of  # noqa: E402
from apps.bench.toolkit import ParameterError  # noqa: E402
from apps.campaigns.errors import Refused  # noqa: E402
from apps.campaigns.recipes import RECIPES  # noqa: E402
from apps.campaigns.services import recipes  # noqa: E402
from apps.reports.campaign import appendix, remarks  # noqa: E402
from apps.reports.files import html  # noqa: E402
from apps.results.doubts import from_flags  # noqa: E402
from tests.bench.rules import cases, storing, test_lies_beneath  # noqa: E402
from tests.reports.documents import document  # noqa: E402

NAMES = ("processor-full", "short", "suspect-rtt", "not-steady", "low-overlap", "clock-unsure", "restarted")
UNKNOWN = dict.fromkeys(("speed", "colour", "weight", "depth", "height", "taste"), 1)


def evidence() -> Iterator[Evidence]:
    """Yield evidence of networks and of file systems, with several flags on its points."""
    yield storing.polarised()
    for kind in test_lies_beneath.OPTIONS:
        yield test_lies_beneath.evidence(kind, test_lies_beneath.TWO, ("ARRAY_A", "ARRAY_ALL"), ("ARRAY_ALL",))
    make = cases.Maker()
    points = [
        make.ping(0.0048, 0.0049, 0.0048),
        *make.window_sweep({64: [140] * 3, 256: [520] * 3, 1024: [980] * 3, 4096: [981] * 3}),
        *make.stream_sweep({1: [300] * 3, 2: [590] * 3, 4: [980] * 3}),
    ]
    flags = {name: frozenset({1, 2}) for name in NAMES}
    yield cases.evidence(points)
    yield cases.evidence(
        [*points, *(dataclasses.replace(point, flagged=flags, warnings=frozenset(NAMES)) for point in points)]
    )


def said() -> Iterator[object]:
    """Yield what is said, thing by thing."""
    for found in evidence():
        yield [draft.as_json() for draft in drafts_of([*rules.ask_ends(found), *rules.ask_whole(found)])]
    flags = [{"name": name, "severity": "warning", "metrics": [], "message": ""} for name in NAMES]
    doubts = from_flags((trial, "goodput", flags) for trial in (1, 2))
    yield list(doubts.names_of([1, 2], "goodput"))
    yield appendix._flags(list(doubts.names_of([1], "goodput")), ("read", "write"), whole=3)
    yield remarks.text_of({metric: doubts.about([1, 2], "goodput") for metric in ("goodput", "retransmits")})
    yield _refused(lambda: tools.get("iperf3-tcp").clean(UNKNOWN))
    yield _refused(lambda: recipes._clean(RECIPES["window-sweep"], UNKNOWN))
    wrong: completion.Errors = {}
    completion._roles(tools.get("iperf3-tcp"), {"told_roles": []}, UNKNOWN, {}, set(), wrong)
    yield list(wrong)
    yield str(html.render(document()))


def _refused(ask) -> list[str]:  # type: ignore[no-untyped-def]
    """Return the fields that are refused, in the order in which they are told."""
    try:
        ask()
    except (ParameterError, Refused) as error:
        return list(error.errors if isinstance(error, ParameterError) else error.message_dict)
    raise AssertionError("nothing was refused")


if __name__ == "__main__":
    print(json.dumps(list(said())))
