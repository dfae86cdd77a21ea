from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0007_lost_threshold")]

    operations = [
        migrations.CreateModel(
            name="LateHeartbeat",
            fields=[
                ("agent_ref", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
            ],
        ),
    ]
