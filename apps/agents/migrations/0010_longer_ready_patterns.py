from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0009_reports_on_their_way")]

    operations = [
        migrations.AlterField("job", "ready_pattern", models.CharField(blank=True, max_length=1000)),
    ]
