"""An archive that names what another team has gets nothing of it: each name of each kind, wherever it stands."""

import io
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import models, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.archive.campaigns import form
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.reader import Archive
from apps.archive.campaigns.store import Choices, store
from apps.archive.campaigns.writer import archive_of
from apps.campaigns.models import Campaign
from apps.core import messages
from apps.testbeds.models import Cluster, FileSystem, Link, Node, Site, Switch, Testbed
from apps.toolbox import services as toolbox
from tests import rewriting
from tests.archive.exports.conftest import lines, repacked, unpacked
from tests.archive.exports.test_hostile_archives import summed
from tests.bench.custom import definitions
from tests.campaigns import factories as make
from tests.rotation import part_of

SECRET = "Zimtstern"
KINDS: dict[str, type[models.Model]] = {
    "sites": Site, "testbeds": Testbed, "nodes": Node, "switches": Switch, "links": Link, "clusters": Cluster,
    "file_systems": FileSystem,
}  # fmt: skip
# Where a value in an archive stands: its file, the keys that lead to it, and its kind.
Place = tuple[str, tuple[str | int, ...], str]


@pytest.fixture
def foreign(cast: SimpleNamespace, finished: Campaign) -> dict[str, str]:
    """Return {kind: a name of the team that measured}, each row of which keeps a secret in each of its texts."""
    a, b = make.nodes(cast.team, "theirs-a", "theirs-b", site="Theirs")
    site = Site.objects.get(team=cast.team, name="Theirs")
    switch = Switch.objects.create(team=cast.team, site=site, name="theirs-switch")
    make.link(a, switch, "theirs-link")
    cluster = make.cluster(cast.team, "theirs-cluster", a, b)
    FileSystem.objects.create(team=cast.team, name="theirs-fs", server_cluster=cluster, mount_path="/theirs")
    definition = definitions.data("site-digest")
    definition |= {"name": f"{SECRET} tool", "summary": SECRET}
    definition["arguments"] = [*definition["arguments"], f"--{SECRET}"]
    definition["metrics"][0]["label"] = f"{SECRET} metric"
    toolbox.create_tool(team=cast.team, user=cast.alice, slug="theirs-tool", definition=definition)
    names = {"tools": "theirs-tool.v1"}
    for kind, model in KINDS.items():
        row = model._default_manager.filter(name__istartswith="theirs").first()
        assert row is not None, kind
        names[kind] = row.name
        texts = [
            field.name
            for field in model._meta.concrete_fields
            if isinstance(field, models.CharField | models.TextField)
            and not field.choices
            and field.name not in ("name", "mount_path")
            and (field.max_length or 100) >= len(SECRET)
        ]
        model._default_manager.filter(pk=row.pk).update(**dict.fromkeys(texts, SECRET))
    return names


def leaves(value: Any, way: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield each text of a JSON value with the keys that lead to it."""
    if isinstance(value, str):
        yield way, value
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*way, key))


def read(files: dict[str, bytes], name: str) -> list[Any]:
    return lines(files[name]) if name.endswith(".jsonl") else [json.loads(files[name])]


def places_of(files: dict[str, bytes]) -> list[Place]:
    """Return where an archive names something, once for each form of way to it."""
    inventory = json.loads(files[form.INVENTORY])
    names = {row["name"]: kind for kind in KINDS for row in inventory.get(kind, [])}
    slugs = {row["tool"] for row in read(files, form.EXPERIMENTS)}
    found: dict[tuple[Any, ...], Place] = {}
    for name in files:
        if not name.endswith((".json", ".jsonl")) or name.startswith("reports/"):
            continue
        for way, text in leaves(read(files, name)):
            kind = "tools" if text in slugs or way[-1] == "tool" else names.get(text)
            if kind:
                shape = (name, kind, *("*" if isinstance(key, int) else key for key in way))
                found.setdefault(shape, (name, way, kind))
    return list(found.values())


def renamed(files: dict[str, bytes], place: Place, text: str, *, everywhere: bool) -> dict[str, bytes]:
    """Return the files with another text in one place, or wherever the archive says what stands there."""
    name, way, _kind = place
    before = at(read(files, name), way)
    changed = dict(files)
    for path in files if everywhere else [name]:
        if not path.endswith((".json", ".jsonl")) or path.startswith("reports/"):
            continue
        rows = read(files, path)
        for other, value in list(leaves(rows)):
            if (path, other) == (name, way) or (everywhere and value == before):
                at(rows, other[:-1])[other[-1]] = text
        joined = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        changed[path] = joined if path.endswith(".jsonl") else json.dumps(rows[0]).encode()
    return changed


def at(value: Any, way: tuple[str | int, ...]) -> Any:
    for key in way:
        value = value[key]
    return value


def told(client: Client, campaign: Campaign) -> Iterator[str]:
    """Yield all that whoever brought a campaign in is told of it: its archive again, and its pages."""
    archive = unpacked(b"".join(archive_of(campaign, now=timezone.now())))
    yield from (data.decode(errors="replace") for data in archive.values())
    addresses = [campaign.get_absolute_url(), reverse("toolbox:tool_list"), reverse("tuning:list")]
    addresses += [reverse("results:trial_list", args=[campaign.pk]), reverse("testbeds:node_list")]
    for experiment in campaign.experiments.all():
        addresses.append(reverse("results:experiment", args=[experiment.pk]))
    for trial in campaign.trials.all()[:2]:
        addresses.append(reverse("results:trial", args=[trial.pk]))
        addresses += [reverse("results:run_series", args=[run.pk]) for run in trial.runs.all()]
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200, address
        yield answer.content.decode()


def test_whatever_of_another_teams_is_named_nothing_of_it_is_told(
    client: Client, cast: SimpleNamespace, finished: Campaign, foreign: dict[str, str]
) -> None:
    files = unpacked(b"".join(archive_of(finished, now=timezone.now())))
    rewriting.delete(finished)
    client.force_login(cast.charlie)
    places = places_of(files)
    assert {kind for _file, _way, kind in places} >= {"tools", "nodes", "sites", "testbeds", "links"}
    assert {name for name, _way, kind in places if kind == "tools"} >= {form.EXPERIMENTS, form.RESULTS}
    stored: set[tuple[str, str]] = set()
    kinds = {place[2]: place for place in places}
    tries = [*((place, False) for place in part_of(places)), *((place, True) for place in kinds.values())]
    for place, everywhere in tries:
        files_sent = renamed(files, place, foreign[place[2]], everywhere=everywhere)
        archive = Archive(io.BytesIO(repacked(summed(files_sent).items())), "a.zip")
        with transaction.atomic():
            try:
                archive.verify()
                made = store(
                    archive=archive, team=cast.other_team, user=cast.charlie, choices=Choices(), now=timezone.now()
                )
            except ArchiveError as refusal:
                assert SECRET not in messages.render(refusal.message), place
            else:
                stored.add((place[2], place[0]))
                assert not any(SECRET in text for text in told(client, made)), place
            transaction.set_rollback(True)
    # What has another's name is described anew; that of a tool is of no use without its definition.
    assert {kind for kind, _file in stored} >= {"nodes", "sites", "testbeds"}
    assert {file for kind, file in stored if kind == "tools"} <= {form.FINDINGS, form.TRIALS}
