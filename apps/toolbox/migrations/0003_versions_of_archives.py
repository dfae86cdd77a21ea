from django.db import migrations, models

# Every version that a person made has a line in its tool's log, and a manager who had a tool offered again looked at
# it: of all others only an archive has said anything.
MARK = """
UPDATE toolbox_toolversion version SET awaits_manager = true
WHERE NOT EXISTS (
    SELECT 1 FROM toolbox_toolevent event
    WHERE event.tool_id = version.tool_id
    AND (
        event.message->>'msgid' = 'Version %(number)s was made.'
        AND event.message->'params'->>'number' = version.number::text
        OR event.message->>'msgid' = 'It was taken back from the archive.'
    )
)
"""


class Migration(migrations.Migration):
    dependencies = [("toolbox", "0002_guards")]

    operations = [
        migrations.AddField(
            model_name="toolversion",
            name="awaits_manager",
            field=models.BooleanField(db_default=False, default=False, verbose_name="waits for a manager"),
        ),
        migrations.RunSQL(MARK, migrations.RunSQL.noop),
    ]
