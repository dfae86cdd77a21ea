from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0005_names_of_files")]

    operations = [
        migrations.AddField(
            model_name="agentinstance",
            name="began_ns",
            field=models.BigIntegerField(blank=True, null=True),
        ),
    ]
