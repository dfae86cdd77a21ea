from django.db import migrations

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
"""
KEEP = """
DROP TRIGGER archive_forget_items ON results_import;
DROP FUNCTION archive_forget_items();
"""


class Migration(migrations.Migration):
    replaces = [("archive", "0004_imports_forget_with_their_campaign")]
    dependencies = [("archive", "0002_former_names")]

    operations = [
        migrations.RunSQL(FORGET, KEEP),
    ]
