from django.db import migrations, models

# Later than all that a node's own agent said there is nothing of its own: that came with an archive, of a campaign
# that may be gone. Its words are nobody's then, and no longer those of the node.
STRANGE = """
UPDATE agents_factsnapshot snapshot SET archive_ref = 'unknown'
FROM agents_agent agent JOIN agents_factsnapshot own ON own.id = agent.facts_id
WHERE snapshot.node_id = agent.node_id AND snapshot.created_at > own.created_at;
"""


class Migration(migrations.Migration):
    dependencies = [("agents", "0011_people_may_be_gone")]

    operations = [
        migrations.AddField(
            model_name="factsnapshot",
            name="archive_ref",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=20),
        ),
        migrations.RunSQL(STRANGE, migrations.RunSQL.noop),
    ]
