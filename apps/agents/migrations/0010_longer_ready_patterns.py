from django.db import migrations, models

from apps.core.immutability import KeepColumns

# PostgreSQL alters no column that a trigger looks at: it goes, and comes again.
KEPT = KeepColumns(
    "agents_job",
    [
        *("node_id", "run_ref", "role", "stage", "argv", "background", "ready_pattern", "optional", "files"),
        *("collect", "environment", "time_limit_s", "output_limit_bytes", "start_at"),
    ],
    "the command of a job never changes",
    name="keep_command",
)


class Migration(migrations.Migration):
    dependencies = [("agents", "0009_reports_on_their_way")]

    operations = [
        migrations.RunSQL(KEPT.reverse_sql, KEPT.sql),
        migrations.AlterField("job", "ready_pattern", models.CharField(blank=True, max_length=1000)),
        KEPT,
    ]
