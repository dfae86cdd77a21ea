import django.db.models.deletion
from django.db import migrations, models

from apps.core.immutability import KeepColumns

OF_THEIR_TRIALS = """
UPDATE campaigns_run run SET experiment_id = trial.experiment_id
FROM campaigns_trial trial WHERE trial.id = run.trial_id
"""


def _experiment(**options: bool) -> models.ForeignKey:
    return models.ForeignKey(
        db_index=False,
        on_delete=django.db.models.deletion.CASCADE,
        related_name="runs",
        to="campaigns.experiment",
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0010_runs_by_end"), ("core", "0001_refusals")]

    operations = [
        migrations.AddField(model_name="run", name="experiment", field=_experiment(null=True)),
        migrations.RunSQL(OF_THEIR_TRIALS, migrations.RunSQL.noop),
        migrations.AlterField(model_name="run", name="experiment", field=_experiment()),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["experiment", "state"], name="runs_by_experiment"),
        ),
        KeepColumns("campaigns_run", ["experiment_id"], "of which trial a run is never changes", name="keep_place"),
    ]
