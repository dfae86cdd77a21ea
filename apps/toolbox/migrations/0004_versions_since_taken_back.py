from django.db import migrations

# 0003 took all versions of a tool that was ever taken back for looked at. Whoever did that saw those that were there:
# one that is younger, and that no line says a person made or took over, an archive brought.
MARK = """
UPDATE toolbox_toolversion version SET awaits_manager = true
WHERE NOT version.awaits_manager
AND NOT EXISTS (
    SELECT 1 FROM toolbox_toolevent event
    WHERE event.tool_id = version.tool_id
    AND (
        event.message->>'msgid' IN (
            'Version %(number)s was made.',
            'Version %(number)s, which came with an archive, was taken over.'
        )
        AND event.message->'params'->>'number' = version.number::text
        OR event.message->>'msgid' = 'It was taken back from the archive.' AND event.at >= version.created_at
    )
)
"""


class Migration(migrations.Migration):
    dependencies = [("toolbox", "0003_versions_of_archives")]

    operations = [
        migrations.RunSQL(MARK, migrations.RunSQL.noop),
    ]
