from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reports", "0004_incoming_archives")]

    operations = [
        migrations.AlterField(
            model_name="incomingarchive",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "waiting to be looked through"),
                    ("checking", "being looked through"),
                    ("ready", "to be decided"),
                    ("agreed", "waiting to be stored"),
                    ("storing", "being stored"),
                    ("done", "imported"),
                    ("refused", "refused"),
                    ("expired", "expired"),
                ],
                default="waiting",
                max_length=8,
                verbose_name="state",
            ),
        )
    ]
