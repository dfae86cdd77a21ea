"""What an archive says is taken in its form only: hostile messages, times and figures in every field."""

import json
from collections.abc import Callable, Iterator
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import models
from django.utils import timezone

from apps.archive.campaigns import fields, form, shapes
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.store.choices import Here
from apps.archive.campaigns.writer import archive_of
from apps.bench.rules.base import MOST_FIGURE
from apps.campaigns.models import Campaign
from apps.core import messages
from apps.testbeds.models import Node
from tests import rewriting
from tests.archive.exports.conftest import lines, repacked, unpacked
from tests.archive.exports.test_hostile_archives import summed
from tests.core.test_messages import HOSTILE
from tests.rotation import part_of

Path = tuple[Any, ...]
# One of each kind of harm: what is endless, what is no message, what breaks where it is filled in.
DRAWN = (HOSTILE[1], HOSTILE[3], HOSTILE[7], HOSTILE[8], HOSTILE[11], HOSTILE[12], HOSTILE[-1])
TIMES = ("9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+00:00", "2200-01-02T00:00:00+00:00", 7, "soon")
NUMBERS = (1.7e308, -1.7e308, 10 * MOST_FIGURE, 10**400, 2**63)
JSON_FILES = (form.CAMPAIGN, form.INVENTORY)
LINE_FILES = (form.FACTS, form.EXPERIMENTS, form.TRIALS, form.RESULTS, form.SERIES, form.EVENTS, form.FINDINGS)


@pytest.fixture
def files(finished: Campaign) -> dict[str, bytes]:
    """Return the files of an archive of a campaign that is gone."""
    found = unpacked(b"".join(archive_of(finished, now=timezone.now())))
    rewriting.delete(finished)
    return found


def values_of(files: dict[str, bytes]) -> dict[str, list[Any]]:
    """Return {file: its records}."""
    found = {name: [json.loads(files[name])] for name in JSON_FILES}
    return found | {name: lines(files[name]) for name in LINE_FILES}


def places(value: Any, is_wanted: Callable[[Any, Any], bool], path: Path = ()) -> Iterator[Path]:
    """Yield the places in JSON values of what is wanted, of members of a list the first that has any."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in members:
        if is_wanted(name, inner):
            yield (*path, name)
        found = list(places(inner, is_wanted, (*path, name)))
        yield from found
        if found and isinstance(value, list):
            return


def with_value(files: dict[str, bytes], name: str, path: Path, value: Any) -> dict[str, bytes]:
    """Return the files with another value in one place."""
    records = values_of(files)[name]
    inner: Any = records
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    text = json.dumps(records[0]) if name in JSON_FILES else "\n".join(map(json.dumps, records)) + "\n"
    return {**files, name: text.encode()}


def refusal(files: dict[str, bytes], cast: SimpleNamespace) -> ArchiveError | None:
    """Return why an archive is refused, None if it came in."""
    try:
        archive = Archive(BytesIO(repacked(summed(files).items())), "a.zip")
        archive.verify()
        store(archive=archive, team=cast.other_team, user=cast.charlie, choices=Choices(), now=timezone.now())
    except ArchiveError as error:
        return error
    return None


def drawn(
    files: dict[str, bytes], cast: SimpleNamespace, is_wanted: Callable[[Any, Any], bool], hostile: tuple[Any, ...]
) -> set[str]:
    """Put hostile values into each place in turn; return the places, once all were refused.

    A place gets two of them, and its neighbours others: places of one kind pass the same form.
    """
    seen: dict[str, Path] = {}
    for name, records in values_of(files).items():
        for path in places(records, is_wanted):
            seen.setdefault(f"{name} {'.'.join(str(step) for step in path if isinstance(step, str))}", path)
    for number, (label, path) in part_of(enumerate(seen.items())):
        if not label.startswith(JSON_FILES) and not Node.objects.filter(team=cast.other_team).exists():
            # The inventory is refused where it is new; for the rest of an archive it need not be made each time.
            Here(Archive(BytesIO(repacked(files.items())), "a.zip"), cast.other_team, Choices())
        for turn in {number % len(hostile), (2 * number + 1) % len(hostile)}:
            value = hostile[turn]
            found = refusal(with_value(files, label.split(" ")[0], path, value), cast)
            assert found is not None, f"{label}: {value!r:.80}"
            assert messages.render(found.message)
    return set(seen)


def test_no_field_takes_a_message_that_is_none(files: dict[str, bytes], cast: SimpleNamespace) -> None:
    def is_message(_name: Any, value: Any) -> bool:
        return isinstance(value, dict) and value.keys() == {"msgid", "params"}

    field_paths = drawn(files, cast, is_message, DRAWN)
    assert {"events.jsonl message", "findings.jsonl title", "findings.jsonl details.why"} <= field_paths
    assert len(field_paths) >= 6


def test_no_field_takes_a_time_that_no_zone_can_show(files: dict[str, bytes], cast: SimpleNamespace) -> None:
    def is_time(name: Any, value: Any) -> bool:
        return (name == "at" or str(name).endswith("_at")) and isinstance(value, str)

    field_paths = drawn(files, cast, is_time, TIMES)
    assert {"campaign.json campaign.launched_at", "results.jsonl recorded_at", "events.jsonl at"} <= field_paths


def test_no_field_takes_a_number_that_cannot_be_computed_with(files: dict[str, bytes], cast: SimpleNamespace) -> None:
    def is_number(_name: Any, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    field_paths = drawn(files, cast, is_number, NUMBERS)
    assert any(label.startswith("results.jsonl samples") for label in field_paths)
    assert any(label.startswith("trials.jsonl parameters") for label in field_paths)


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, "x", True, 1.5, 1e30])
def test_parameters_are_of_the_tools_kinds(files: dict[str, bytes], cast: SimpleNamespace, value: Any) -> None:
    assert refusal(with_value(files, form.TRIALS, (0, "parameters", "window"), value), cast)


@pytest.mark.parametrize(
    ("name", "is_taken"),
    [("setting.client.net.core.rmem_max", True), ("setting.client.é", False), ("setting.x", False)],
)
def test_settings_are_of_names_that_may_be_set(
    files: dict[str, bytes], cast: SimpleNamespace, name: str, is_taken: bool
) -> None:
    fixed = values_of(files)[form.EXPERIMENTS][0]["fixed"] | {name: "8388608"}
    assert (refusal(with_value(files, form.EXPERIMENTS, (0, "fixed"), fixed), cast) is None) == is_taken


def test_of_every_json_field_it_is_said_what_it_holds() -> None:
    listed = {
        name: getattr(fields, name)
        for name in dir(fields)
        if name.isupper() and isinstance(getattr(fields, name), tuple)
    }
    kinds = {model for model, _name in shapes.CHECKS}
    for model in kinds:
        own = {item.name for item in model._meta.get_fields() if isinstance(item, models.JSONField)}
        told = {name for kind, name in shapes.CHECKS if kind is model}
        in_archive = {name for names in listed.values() for name in names}
        # Ends of a finding are numbers of the database, and read by themselves.
        assert (own & in_archive) - told == set(), model
