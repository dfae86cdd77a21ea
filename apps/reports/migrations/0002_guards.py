from django.db import migrations

# An edition never changes; that its author's account goes is no change.
KEEP = """
CREATE FUNCTION reports_keep_edition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an edition never changes' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER reports_keep_edition
BEFORE UPDATE OF report_id, number, permanent_id, title, language, canonical, checksum, rests_on, note, created_at
ON reports_edition FOR EACH ROW EXECUTE FUNCTION reports_keep_edition();
"""
FORGET = """
DROP TRIGGER reports_keep_edition ON reports_edition;
DROP FUNCTION reports_keep_edition();
"""


class Migration(migrations.Migration):
    replaces = [("reports", "0012_who_editions_are_told_to")]
    dependencies = [("reports", "0001_tables")]

    operations = [
        migrations.RunSQL(KEEP, FORGET),
    ]
