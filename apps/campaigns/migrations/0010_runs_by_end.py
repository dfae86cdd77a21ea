from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0009_what_happened_never_changes")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("ended_at__isnull", False)), fields=["ended_at", "id"], name="runs_by_end"
            ),
        ),
    ]
