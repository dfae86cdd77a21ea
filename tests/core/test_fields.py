"""Fields of our own say to migrations all that they were told: what they leave out comes back as the default."""

import pytest
from django.apps import apps
from django.db import models

from tests.rotation import part_of

OURS = sorted(
    {
        field
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if type(field).__module__.startswith("apps.") and model.__module__.startswith("apps.")
    },
    key=str,
)


@pytest.mark.parametrize("name", ["_unique", "null", "blank", "db_index", "editable"])
@pytest.mark.parametrize("field", part_of(OURS), ids=str)
def test_a_copy_is_as_it_was_told(field: models.Field, name: str) -> None:
    for value in (True, False):
        copy = field.clone()
        setattr(copy, name, value)
        assert getattr(copy.clone(), name) is value
