from django.db import migrations

# Campaigns and agents know nothing of each other: the facts that an archive brought go with its campaign here.
GO_ALONG = """
CREATE FUNCTION results_forget_facts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM agents_factsnapshot snapshot USING gone WHERE snapshot.archive_ref = gone.permanent_id
        AND NOT EXISTS (SELECT FROM agents_job job WHERE job.facts_id = snapshot.id);
    RETURN NULL;
END $$;
CREATE TRIGGER results_forget_facts AFTER DELETE ON campaigns_campaign REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION results_forget_facts();
"""
STAY_BEHIND = """
DROP TRIGGER results_forget_facts ON campaigns_campaign;
DROP FUNCTION results_forget_facts();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0012_facts_of_archives"),
        ("campaigns", "0018_shares_wait_until_they_are_accepted"),
        ("results", "0015_samples_count"),
    ]

    operations = [migrations.RunSQL(GO_ALONG, STAY_BEHIND)]
