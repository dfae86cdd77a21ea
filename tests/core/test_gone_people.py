"""What somebody made outlives their account, and the others go on with it."""

from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import models
from django.test import Client

from tests import factories
from tests.campaigns import factories as make

pytestmark = pytest.mark.django_db


def test_whatever_may_be_gone_may_be_left_out_when_a_row_is_checked() -> None:
    fields = (
        field
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey) and field.remote_field.on_delete is models.SET_NULL
    )
    refusing = {str(field) for field in fields if not field.blank}
    assert refusing == set()


def test_a_campaign_whose_maker_is_gone_is_edited_shared_hidden_and_deleted(
    client: Client, cast: SimpleNamespace
) -> None:
    draft = make.campaign(cast)
    cast.oscar.delete()
    draft.refresh_from_db()
    assert draft.created_by is None
    address, headers = f"/api/v1/campaigns/{draft.pk}/", factories.bearer(cast.alice)
    for method, path, body, status in (
        ("patch", "", {"goal": "Another"}, 200),
        ("put", "sharing/", {"visibility": "public", "redacted": False}, 200),
        ("put", "sharing/", {"visibility": "team"}, 200),
        ("delete", "", {}, 204),
    ):
        answer = getattr(client, method)(address + path, body, content_type="application/json", **headers)
        assert answer.status_code == status, (method, path, answer.content)
