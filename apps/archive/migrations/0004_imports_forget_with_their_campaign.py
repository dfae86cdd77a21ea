from django.db import migrations

NAME = """
UPDATE results_import imported SET of_campaign = campaign.permanent_id
FROM campaigns_campaign campaign WHERE campaign.id = imported.campaign_id;
UPDATE reports_incomingarchive archive SET of_campaign = campaign.permanent_id
FROM campaigns_campaign campaign WHERE campaign.id = archive.campaign_id;
UPDATE reports_incomingarchive SET of_campaign = preview->>'campaign'
WHERE of_campaign = '' AND length(preview->>'campaign') <= 20;
"""
# Campaigns know nothing of imports: what these read of a campaign goes with it here, whoever deletes it.
FORGET = """
CREATE FUNCTION archive_forget_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM results_importitem WHERE source_id = NEW.id;
    NEW.uploads = '[]'; NEW.sheet = '{}'; NEW.groups = '[]'; NEW.choices = '{}';
    RETURN NEW;
END $$;
CREATE TRIGGER archive_forget_items BEFORE UPDATE OF campaign_id ON results_import
FOR EACH ROW WHEN (OLD.campaign_id IS NOT NULL AND NEW.campaign_id IS NULL)
EXECUTE FUNCTION archive_forget_items();
DELETE FROM results_importitem item USING results_import imported
WHERE item.source_id = imported.id AND imported.state = 'done' AND imported.campaign_id IS NULL;
UPDATE results_import SET uploads = '[]', sheet = '{}', groups = '[]', choices = '{}'
WHERE state = 'done' AND campaign_id IS NULL;
"""
KEEP = """
DROP TRIGGER archive_forget_items ON results_import;
DROP FUNCTION archive_forget_items();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("archive", "0003_campaigns_of_imports"),
        ("campaigns", "0018_shares_wait_until_they_are_accepted"),
        ("reports", "0011_told_to_who_sees_all_of_it"),
    ]

    operations = [migrations.RunSQL(NAME, migrations.RunSQL.noop), migrations.RunSQL(FORGET, KEEP)]
