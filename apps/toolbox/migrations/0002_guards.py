from django.db import migrations

# A version never changes; that its author's account goes is no change.
KEEP = """
CREATE FUNCTION toolbox_keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a version of a tool never changes' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER toolbox_keep_version BEFORE UPDATE OF tool_id, number, definition ON toolbox_toolversion
FOR EACH ROW EXECUTE FUNCTION toolbox_keep_version();
"""
FORGET = """
DROP TRIGGER toolbox_keep_version ON toolbox_toolversion;
DROP FUNCTION toolbox_keep_version();
"""


class Migration(migrations.Migration):
    replaces = [("toolbox", "0002_people_may_be_gone")]
    dependencies = [("toolbox", "0001_tables")]

    operations = [
        migrations.RunSQL(KEEP, FORGET),
    ]
