from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0008_figures_never_change")]

    operations = [
        migrations.AlterField(
            model_name="import",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "waiting to be read"),
                    ("reading", "being read"),
                    ("mapping", "columns to be named"),
                    ("ready", "to be looked at"),
                    ("storing", "being stored"),
                    ("done", "imported"),
                    ("refused", "refused"),
                    ("expired", "expired"),
                ],
                default="waiting",
                max_length=8,
                verbose_name="state",
            ),
        ),
        migrations.AddField(model_name="columnmapping", name="sheets", field=models.JSONField(default=list)),
    ]
