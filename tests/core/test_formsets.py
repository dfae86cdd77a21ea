"""Every table of rows that is sent: more rows than it takes are refused before one of them is built."""

import importlib
import inspect
import pkgutil
from typing import Any

import pytest
from django.contrib import admin
from django.forms import BaseFormSet, BaseInlineFormSet, formset_factory, inlineformset_factory

import apps
from apps.core.forms import BoundedFormSet
from apps.toolbox.forms import MetricRow


def formsets_of_modules() -> dict[str, Any]:
    """Return the classes of formsets that any module of the service keeps."""
    kept = {}
    for item in pkgutil.walk_packages(apps.__path__, "apps."):
        if item.name.startswith("apps.config") or ".migrations" in item.name or item.name.endswith("__main__"):
            continue
        module = importlib.import_module(item.name)
        for name, value in vars(module).items():
            if inspect.isclass(value) and issubclass(value, BaseFormSet) and getattr(value, "form", None):
                kept[f"{value.__module__}.{name}"] = value
    return kept


def formsets_of_admin() -> dict[str, Any]:
    """Return those of the rows that are edited within another's page of the administration."""
    return {
        f"admin.{inline.__name__}": inlineformset_factory(
            model, inline.model, formset=inline.formset, fk_name=inline.fk_name, fields=[], max_num=inline.max_num
        )
        for model, page in admin.site._registry.items()
        if model.__module__.startswith("apps.")
        for inline in page.inlines
    }


FORMSETS = {**formsets_of_modules(), **formsets_of_admin()}


def sent(formset: Any, total: object, initial: object = 0) -> BaseFormSet:
    data = {"rows-TOTAL_FORMS": str(total), "rows-INITIAL_FORMS": str(initial)}
    made_of: BaseFormSet = formset(data, prefix="rows")
    return made_of


def test_there_are_some_of_each_kind() -> None:
    assert {"apps.toolbox.forms.ParameterRows", "apps.toolbox.forms.MetricRows"} <= {
        name.replace("django.forms.formsets", "apps.toolbox.forms") for name in FORMSETS
    }
    assert any(issubclass(formset, BaseInlineFormSet) for formset in FORMSETS.values())


@pytest.mark.django_db
@pytest.mark.parametrize("name", FORMSETS)
@pytest.mark.parametrize("total", ["9" * 400, "9" * 5000, "1000000", "over", "-1"], ids=lambda text: text[:8])
@pytest.mark.parametrize("field", ["total", "initial"])
def test_more_rows_than_are_taken_are_refused_before_one_is_built(name: str, total: str, field: str) -> None:
    formset = FORMSETS[name]
    count = formset.absolute_max + 1 if total == "over" else total
    rows = sent(formset, **{"total": 1, field: count})
    assert not rows.is_valid()
    assert rows.forms == []
    assert "more than can be taken" in str(rows.non_form_errors())


@pytest.mark.django_db
@pytest.mark.parametrize("name", FORMSETS)
def test_a_row_is_taken_by_all_of_them(name: str) -> None:
    assert len(sent(FORMSETS[name], 1).forms) == 1
    assert issubclass(FORMSETS[name], BoundedFormSet)


def test_django_alone_builds_them() -> None:
    assert len(sent(formset_factory(MetricRow), "9" * 400).forms) == 2000
