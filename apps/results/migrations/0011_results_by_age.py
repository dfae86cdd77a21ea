from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0011_runs_of_experiments"), ("results", "0010_results_stay")]

    operations = [
        migrations.AddIndex(
            model_name="result",
            index=models.Index(fields=["recorded_at", "id"], include=["experiment"], name="results_by_age"),
        ),
    ]
