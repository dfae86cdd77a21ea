"""No page takes a text of a person for HTML: with markup in every text of every row, none comes out as it was put in.

A script does not run here, but the markup need not be one: htmx, on each page, sends what an attribute says.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.toolbox import queries
from apps.toolbox.models import ToolVersion
from tests import factories, rewriting
from tests.core.test_space import plain_addresses
from tests.rest.test_private_words import reached

pytestmark = pytest.mark.django_db
MARK = "\"'><i hx-get=/zq>"
TAG = "<i hx-get"
SHOWN = "&quot;&#x27;&gt;&lt;i hx-get=/zq&gt;"

# By these the service finds and reads its own rows: words and digests that it makes or checks letter by letter.
OWN = {
    "password", "timezone", "cron_timezone", "theme", "language", "skeleton", "slug", "prefix", "digest", "checksum",
    "permanent_id", "of_campaign", "cron", "work", "cause", "kind", "tool", "metric", "key", "rule", "archive_ref",
    "search_factor", "query", "resource", "resources", "formats", "rests_on", "earlier", "asked_with", "format",
    "group", "owner", "account",
}  # fmt: skip
# The same, where another row's field of that name is somebody's text.
OWN_OF = {
    "agents.Job.role", "campaigns.ExperimentRole.role", "campaigns.SparedTeam.name", "campaigns.Share.name",
    "tuning.Finding.subject", "tuning.Finding.ends", "results.StageTiming.name", "archive.SearchMetric.name",
    "archive.SearchValue.name", "agents.Job.fault",
}  # fmt: skip
# Names of what people, agents and files write within JSON.
WRITTEN = {
    "label", "help", "title", "summary", "note", "text", "goal", "reason", "description", "detail", "hostname",
    "model", "params", "source", "author", "address", "argv", "files", "environment", "facts", "headers", "rows",
    "congestion", "congestion_sender", "nodes", "folder", "people",
    "os", "cpu", "interfaces", "new",
}  # fmt: skip


def fields() -> "list[models.Field]":
    """Return the fields of texts of all models, without those that the service alone writes."""
    return [
        field
        for model in apps.get_models()
        if model.__module__.startswith("apps.") and model._meta.managed
        for field in model._meta.local_concrete_fields
        if isinstance(field, models.CharField | models.TextField | models.JSONField | ArrayField)
        and not field.choices
        and not field.generated
        and field.name not in OWN
        and f"{model._meta.label}.{field.name}" not in OWN_OF
        and (not field.max_length or field.max_length > 2 * len(MARK))
    ]


def marked(value: Any, field: models.Field, *, is_written: bool = False) -> Any:
    """Return a value with markup in each text that somebody may have written."""
    if isinstance(field, models.JSONField) or isinstance(value, dict | list):
        return marked_json(value, is_written=not isinstance(field, models.JSONField))
    if not isinstance(value, str):
        return value
    return value[: (field.max_length or 10_000) - len(MARK)] + MARK


def marked_json(value: Any, *, is_written: bool) -> Any:
    if isinstance(value, dict):
        return {name: marked_json(item, is_written=is_written or name in WRITTEN) for name, item in value.items()}
    if isinstance(value, list):
        return [marked_json(item, is_written=is_written) for item in value]
    return value + MARK if is_written and isinstance(value, str) else value


def mark_all() -> set[str]:
    """Write markup into every row; return the fields that have it."""
    has_it = set()
    for field in fields():
        for row in field.model._base_manager.all():
            old = getattr(row, field.attname)
            if (new := marked(old, field)) != old:
                rewriting.update(field.model._base_manager.filter(pk=row.pk), **{field.attname: new})
                has_it.add(f"{field.model._meta.label}.{field.name}")
    return has_it


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Have tools read anew that were read before: of versions, which never change, those of this test do."""
    queries._made.cache_clear()
    yield
    queries._made.cache_clear()


@pytest.fixture
def helped(team: Any, forgotten: None) -> Any:
    """Return a team one of whose tools says of each parameter what it is."""
    version = ToolVersion.objects.get()
    for parameter in version.definition["parameters"]:
        parameter["help"] = f"What {parameter['name']} is"
    rewriting.update(ToolVersion.objects.filter(pk=version.pk), definition=version.definition)
    return team


def test_no_page_takes_a_text_of_a_person_for_html(helped: Any) -> None:
    has_it = mark_all()
    assert {"toolbox.ToolVersion.definition", "campaigns.Campaign.goal", "testbeds.Node.notes"} <= has_it
    own = [f"/campaigns/{campaign.pk}/" for campaign in (helped.measured, helped.draft)]
    forms = [
        f"/campaigns/{helped.draft.pk}/experiments/new/?tool={tool}" for tool in ("site-digest.v1", "iperf3-tcp")
    ]
    first = [*plain_addresses(), *own, *forms, f"/exports/?set=node:{helped.a.pk}"]
    pages = reached(factories.signed_in(helped.cast.alice), first)
    shown = {address: answer.content.decode() for address, answer in pages.items() if is_page(answer.media)}
    assert {address: around(text) for address, text in shown.items() if TAG in text} == {}
    # Nearly every page names something; and what a form says of a tool's parameter is among it.
    assert sum(SHOWN in text for text in shown.values()) > 120
    assert f"What digest is{SHOWN}" in shown[forms[0]]


def is_page(media: str) -> bool:
    return "html" in media or "svg" in media


def around(text: str) -> str:
    return text[max(0, text.index(TAG) - 120) : text.index(TAG) + len(TAG)]
