"""Imports stored the tools' defaults for what nobody told: of those that still know what was told, take them out."""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import migrations
from django.utils import timezone

from apps.archive.imports.sweeps import sweep_of
from apps.bench import tools
from apps.bench.sweep import likeness
from apps.bench.toolkit import Tool

# The triggers that hold what was measured to be as it was.
KEPT = (("campaigns_trial", "campaigns_trial_kept"), ("results_result", "results_result_keep_reading"))
BATCH = 500


def tell(apps: Any, schema_editor: Any) -> None:
    """Give the trials of imports the parameters that were told, and rules another look at their campaigns."""
    imports = apps.get_model("archive", "Import").objects.filter(campaign__isnull=False)
    with _rewriting(schema_editor.connection):
        for imported in imports.iterator():
            if imported.choices:
                _tell(apps, imported)


@contextmanager
def _rewriting(connection: Any) -> Iterator[None]:
    with connection.cursor() as cursor:
        # A table with checks still to come cannot be altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table, trigger in KEPT:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
        yield
        for table, trigger in KEPT:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER {trigger}")


def _tell(apps: Any, imported: Any) -> None:
    trials, results = apps.get_model("campaigns", "Trial"), apps.get_model("results", "Result")
    rows = imported.items.filter(is_duplicate=False, trial__campaign=imported.campaign_id).select_related(
        "trial__experiment"
    )
    groups: dict[int, list[Any]] = defaultdict(list)
    known = {tool.slug for tool in tools.all_tools()}
    for item in rows.order_by("trial__position").iterator():
        if item.group in imported.choices and item.tool in known:
            groups[item.trial.experiment_id].append(item)
    for items in groups.values():
        tool, experiment = tools.get(items[0].tool), items[0].trial.experiment
        place = f"{imported.campaign.permanent_id}/{experiment.position + 1}"
        points: dict[str, dict[str, Any]] = {}
        numbers: dict[str, int] = {}
        for item in items:
            item.trial.parameters = _told(tool, item, imported.choices[item.group], place)
            key = json.dumps(item.trial.parameters, sort_keys=True)
            points.setdefault(key, item.trial.parameters)
            item.trial.point = numbers.setdefault(key, len(numbers))
        trials.objects.bulk_update([item.trial for item in items], ["parameters", "point"], batch_size=BATCH)
        told = {item.trial_id: item.trial.parameters for item in items}
        found = list(results.objects.filter(trial__in=told))
        own = {parameter.name for parameter in tool.parameters}
        for result in found:
            assumed = own - told[result.trial_id].keys()
            result.requested = {name: value for name, value in result.requested.items() if name not in assumed}
        results.objects.bulk_update(found, ["requested"], batch_size=BATCH)
        for name, value in sweep_of(tool, list(points.values())).items():
            setattr(experiment, name, value)
        experiment.updated_at = timezone.now()
        experiment.save()
    apps.get_model("campaigns", "Campaign").objects.filter(pk=imported.campaign_id).update(analysed_at=None)


def _told(tool: Tool, item: Any, choice: Any, place: str) -> dict[str, Any]:
    """Return what was told of an item's parameters; what nobody said was alike is told apart from all others."""
    said = {*choice.get("parameters", ()), *item.told}
    told = {name: value for name, value in item.trial.parameters.items() if name in said}
    if not likeness.absent(tool, told):
        return told
    is_alike = choice.get("alike") or item.repetition is not None
    return {**told, likeness.AS_IN: place if is_alike else f"{place}/{item.trial.position + 1}"}


class Migration(migrations.Migration):
    dependencies = [
        ("archive", "0003_forgotten_imports"),
        ("campaigns", "0002_guards"),
        ("results", "0003_which_samples_count"),
    ]

    operations = [migrations.RunPython(tell, migrations.RunPython.noop)]
