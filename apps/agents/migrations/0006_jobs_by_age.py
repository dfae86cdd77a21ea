import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0005_what_was_printed_stays")]

    operations = [
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["-created_at", "id"], include=["node"], name="jobs_by_age"),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["started_at", "id"], include=["node"], name="jobs_by_start"),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["node", "-created_at", "id"], name="jobs_of_node_by_age"),
        ),
        migrations.AlterField(
            model_name="job",
            name="node",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="jobs",
                to="testbeds.node",
                verbose_name="node",
            ),
        ),
    ]
