from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0008_instances_and_troubles")]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="unsent_since",
            field=models.DateTimeField(blank=True, null=True, verbose_name="oldest unsent report"),
        ),
        migrations.AddField(
            model_name="joboutput",
            name="cut_on_way",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="jobfile",
            name="cut_on_way",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
